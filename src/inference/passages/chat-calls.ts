import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { callFault } from '../convert/complete-call.ts'
import { eventData } from '../observe/event-data.ts'
import { CALLED, type SseTap } from '../observe/sse-tap.ts'
import { badReply } from '../upstreams/failure.ts'
import { dueArguments, type OpenCall, readPiece, writtenCall } from './chat-pieces.ts'
import { mapEvents } from './mapped-events.ts'
import type { ReplyContext } from './passage.ts'

/** A choice of a stream. */
interface OpenChoice {
  calls: OpenCall[]
  isFinished: boolean
}

/** Passes the calls of a chat stream on. */
export interface ChatCalls {
  /**
   * Reads whole events. Chunks where nothing is broken are returned as they are; none is parsed before the first call.
   *
   * @returns the events for the client
   * @throws GazewayError `upstream_bad_reply` at the end of an answer whose calls nobody may run
   */
  read(events: Buffer): Buffer
}

/**
 * Watches the calls of a chat stream. Each gets an id, a position of its own, and the text of an object as its arguments:
 * those that are encoded twice, or `null`, wait for the end of the answer.
 *
 * @param tap tells which events need no look
 */
export function watchChatCalls(
  { asked, provider }: Pick<ReplyContext, 'asked' | 'provider'>,
  tap: Pick<SseTap, 'isPlain'>,
): ChatCalls {
  const choices = new Map<unknown, OpenChoice>()
  let head: Fields = {}
  let hasCalls = false

  /** Ends a choice. @returns arguments that are still due */
  function finish(choice: OpenChoice, reason: unknown): ReadonlyMap<OpenCall, string> {
    choice.isFinished = true
    const fault = callFault(choice.calls.map(writtenCall), reason, asked.tools)
    if (fault !== null) throw badReply(provider, fault)
    return dueArguments(choice.calls, reason, asked.tools)
  }

  function readChoice(given: unknown): unknown {
    const { index = 0, delta, finish_reason: reason } = fieldsOrNone(given)
    const choice = choices.get(index) ?? { calls: [], isFinished: false }
    choices.set(index, choice)
    const pieces = objectsOrNone(fieldsOrNone(delta).tool_calls)
    const read = pieces.map((piece) => readPiece(choice.calls, piece))
    const due = reason && !choice.isFinished ? finish(choice, reason) : NOTHING_DUE
    if (due.size === 0 && read.every((piece, at) => piece === pieces[at])) return given
    const tool_calls = withDue(read, due)
    return { ...fieldsOrNone(given), delta: { ...fieldsOrNone(delta), tool_calls } }
  }

  function readEvent(event: Buffer): Buffer[] {
    const data = eventData(event)
    // Some providers send no finish reasons.
    if (data === null) return event.includes('[DONE]') ? [...rest(), event] : [event]
    if (!Array.isArray(data.choices)) return [event]
    const { usage: _, ...shared } = data
    head = shared
    const given = data.choices as unknown[]
    const read = given.map(readChoice)
    return read.every((choice, at) => choice === given[at]) ? [event] : [chunk({ ...data, choices: read })]
  }

  function rest(): Buffer[] {
    const open = [...choices].filter(([, { isFinished }]) => !isFinished)
    return open.flatMap(([index, choice]) => {
      const due = finish(choice, null)
      if (due.size === 0) return []
      const delta = { tool_calls: withDue([], due) }
      return [chunk({ ...head, choices: [{ index, delta, finish_reason: null }] })]
    })
  }

  return {
    read(events) {
      hasCalls ||= !tap.isPlain() && CALLED.test(events.toString('latin1'))
      return hasCalls ? mapEvents(events, readEvent) : events
    },
  }
}

const NOTHING_DUE: ReadonlyMap<OpenCall, string> = new Map()

/** Pieces of calls with the arguments that are due, which follow their last piece or come as pieces of their own. */
function withDue(pieces: Fields[], due: ReadonlyMap<OpenCall, string>): Fields[] {
  const told = [...pieces]
  for (const [{ at }, args] of due) {
    const last = told.findLastIndex(({ index }) => index === at)
    const { function: called, ...piece } = told[last] ?? { index: at }
    const whole = { ...piece, function: { ...fieldsOrNone(called), arguments: args } }
    if (last < 0) told.push(whole)
    else told[last] = whole
  }
  return told
}

const chunk = (data: object): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
