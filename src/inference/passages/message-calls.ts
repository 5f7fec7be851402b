import { isObject } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import { WrongTypeError } from '../../text/typed-reader.ts'
import { incompleteReason, knownFinish, MESSAGE_STOP } from '../api/finish-reason.ts'
import { messageId } from '../convert/chat-to-message.ts'
import { argumentsText, NO_CALL, NO_NAME, NO_OBJECT, readableArguments } from '../convert/complete-call.ts'
import { type HeldArguments, heldArguments } from '../convert/held-arguments.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import { badReply } from '../upstreams/failure.ts'
import { mapEvents } from './mapped-events.ts'
import type { ReplyContext } from './passage.ts'
import { isToolUse } from './readable-message.ts'
import { toSse } from './upstream-reply.ts'

/** Marks of events that need a look. As bytes, they are found in a third of the time. */
const BLOCK_START = Buffer.from('content_block_start')
const TOOL_USE = Buffer.from('"tool_use"')

/** Most calls that are open at a time. */
const MOST_OPEN = 1000

/** An event of a streamed Message, for the block at an index. */
type BlockEvent = EventData & { index?: unknown }

/** Passes the calls of a streamed Message on. */
export interface MessageCalls {
  /**
   * Reads whole events. Events where nothing is broken are returned as they are. Only the starts of blocks are parsed, and
   * calls.
   *
   * @returns the events for the client
   * @throws GazewayError `upstream_bad_reply` for a call that nobody may run
   */
  read(events: Buffer): Buffer
}

/**
 * Watches the calls of a streamed Message. Blocks are numbered in order; each call gets an id, and its whole input. The end
 * of a call that is not complete waits: when the answer ends because it is too long, clients know that nobody may run the
 * call.
 */
export function watchMessageCalls({ asked, provider }: Pick<ReplyContext, 'asked' | 'provider'>): MessageCalls {
  const blocks = createBlocks(asked.tools)
  /** Events from the end of a call that is not complete. */
  let waiting: Buffer[] = []

  const fail = (fault: string): never => {
    throw badReply(provider, fault)
  }

  function end(data: BlockEvent, event?: Buffer): Buffer[] {
    const { passed, isComplete } = blocks.end(data, event)
    if (isComplete) return passed
    waiting.push(...passed)
    return []
  }

  function begin(event: Buffer, data: BlockEvent): Buffer[] {
    const ended = blocks.isOpen(data.index) ? end(stopOf(data.index)) : []
    if (waiting.length > 0) fail(NO_OBJECT)
    const { type, name } = fieldsOrNone(data.content_block)
    if (type === 'tool_use' && !isText(name)) fail(NO_NAME)
    return [...ended, blocks.begin(event, data)]
  }

  function finish(event: Buffer, data: EventData): Buffer[] {
    const { stop_reason: reason } = fieldsOrNone(data.delta)
    if (!isText(reason)) return [event]
    const ended = blocks.open().flatMap((index) => end(stopOf(index)))
    if (waiting.length > 0 && incompleteReason(reason) === null) fail(NO_OBJECT)
    if (!blocks.hasCalls() && knownFinish(reason) === 'tool_calls') fail(NO_CALL)
    const passed = [...ended, ...waiting, event]
    waiting = []
    return passed
  }

  function readEvent(event: Buffer): Buffer[] {
    const data: BlockEvent | null = eventData(event)
    switch (data?.type) {
      case 'content_block_start':
        return begin(event, data)
      case 'content_block_delta':
        return blocks.add(event, data)
      case 'content_block_stop':
        return end(data, event)
      case 'message_delta':
        return finish(event, data)
      case MESSAGE_STOP:
        return waiting.length > 0 ? fail(NO_OBJECT) : [event]
      default:
        return [event]
    }
  }

  return {
    read(events) {
      const isMarked = events.includes(BLOCK_START) || events.includes(TOOL_USE)
      return isMarked || blocks.isWatched() || waiting.length > 0 ? mapEvents(events, readEvent) : events
    },
  }
}

/** A call whose block has not ended. */
interface OpenCall {
  name: string
  /** Input in the start of its block. Some servers send all of it there, where most clients do not look. */
  begun: string
  input: HeldArguments<Buffer>
}

/** Blocks of a streamed Message. Those of calls are open until they end. */
interface Blocks {
  begin(event: Buffer, data: BlockEvent): Buffer
  add(event: Buffer, data: BlockEvent): Buffer[]
  end(data: BlockEvent, event?: Buffer): { passed: Buffer[]; isComplete: boolean }
  /** Indexes of the calls that are open. */
  open(): unknown[]
  isOpen(index: unknown): boolean
  hasCalls(): boolean
  /** True while events must be read: a call is open, or blocks have other numbers. */
  isWatched(): boolean
}

function createBlocks(tools: unknown): Blocks {
  /** Number of each block for the client, by that of the upstream. */
  const numbers = new Map<unknown, number>()
  const open = new Map<unknown, OpenCall>()
  let count = 0
  let hasCalls = false
  let isRenumbered = false

  const numbered = (event: Buffer, data: BlockEvent): Buffer => {
    const number = numbers.get(data.index)
    return number === undefined || number === data.index ? event : written({ ...data, index: number })
  }

  return {
    begin(event, data) {
      const { index } = data
      isRenumbered ||= index !== count
      if (open.size === MOST_OPEN) throw new WrongTypeError('index', `that of one of ${MOST_OPEN} open blocks`)
      numbers.set(index, count++)
      const block = fieldsOrNone(data.content_block)
      if (!isToolUse(block)) return numbered(event, data)
      hasCalls = true
      const { name, id, input } = block
      const begun = isObject(input) && Object.keys(input).length === 0 ? '' : argumentsText(input)
      open.set(index, { name: String(name), begun, input: heldArguments() })
      if (isText(id)) return numbered(event, data)
      return written({ ...data, index: numbers.get(index), content_block: { ...block, id: messageId('toolu') } })
    },
    add(event, data) {
      const { partial_json: piece } = fieldsOrNone(data.delta)
      const passed = numbered(event, data)
      return typeof piece === 'string' ? (open.get(data.index)?.input.push(piece, passed) ?? [passed]) : [passed]
    },
    end(data, event = written(data)) {
      const call = open.get(data.index)
      const passed = numbered(event, data)
      if (call === undefined) return { passed: [passed], isComplete: true }
      open.delete(data.index)
      const [text, held] = [call.input.written(), call.input.take()]
      const isWritten = text.trim() !== ''
      const input = readableArguments({ name: call.name, arguments: isWritten ? text : call.begun }, tools)
      if (input === null) return { passed: [...held, passed], isComplete: false }
      if (input === '' || (isWritten && held.length === 0)) return { passed: [passed], isComplete: true }
      const delta = { type: 'input_json_delta', partial_json: input }
      const whole = written({ type: 'content_block_delta', index: numbers.get(data.index), delta })
      return { passed: [whole, passed], isComplete: true }
    },
    open: () => [...open.keys()],
    isOpen: (index) => open.has(index),
    hasCalls: () => hasCalls,
    isWatched: () => isRenumbered || open.size > 0,
  }
}

/** End of a block that the upstream did not end. */
const stopOf = (index: unknown): BlockEvent => ({ type: 'content_block_stop', index })

const written = (event: object): Buffer => toSse([event as { type: string }])
