import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import { type Fields, WrongTypeError } from '../../text/typed-reader.ts'
import { LAST_EVENTS } from '../api/finish-reason.ts'
import { argumentsText, callFault, NO_OBJECT, readableArguments } from '../convert/complete-call.ts'
import { type HeldArguments, heldArguments } from '../convert/held-arguments.ts'
import { itemId } from '../convert/response-items.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import { badReply } from '../upstreams/failure.ts'
import { mapEvents } from './mapped-events.ts'
import type { ReplyContext } from './passage.ts'
import { isFunctionCall, type NameCall, readableItem, readableResponse, writtenItem } from './readable-response.ts'
import { type ReadResponse, toSse } from './upstream-reply.ts'

/** Mark of events that need a look. As bytes, it is found in a third of the time. */
const FUNCTION_CALL = Buffer.from('function_call')

/** Most calls of one answer, and most events after a call that is not complete. */
const MOST = 1000

/** An event of a streamed Response, for one of its items. */
type ItemEvent = EventData & { item?: unknown; item_id?: unknown; output_index?: unknown; arguments?: unknown }

/** Passes the calls of a streamed Response on. */
export interface ResponseCalls {
  /**
   * Reads whole events. Events where nothing is broken are returned as they are, and only those of calls are parsed.
   *
   * @returns the events for the client
   * @throws GazewayError `upstream_bad_reply` for a call that nobody may run
   */
  read(events: Buffer): Buffer
}

/**
 * Watches the calls of a streamed Response. Each gets an id, and its whole arguments. The end of a call that is not
 * complete waits: when the answer ends because it is too long, clients know that nobody may run the call.
 */
export function watchResponseCalls({ asked, provider }: Pick<ReplyContext, 'asked' | 'provider'>): ResponseCalls {
  const calls = createCalls(asked.tools)
  /** Events from the end of a call that is not complete. */
  const waiting: Buffer[] = []

  const fail = (fault: string): never => {
    throw badReply(provider, fault)
  }
  function wait(events: Buffer[]): Buffer[] {
    waiting.push(...events)
    return waiting.length > MOST ? fail(NO_OBJECT) : []
  }

  function endItem(event: Buffer, data: ItemEvent): Buffer[] {
    const item = fieldsOrNone(data.item)
    if (!isFunctionCall(item)) return [event]
    if (item.status === 'incomplete') return [...calls.held(data), event]
    const fault = callFault([writtenItem(item)], null, asked.tools)
    if (fault === NO_OBJECT) return wait([...calls.held(data), event])
    return fault === null ? calls.end(event, data) : fail(fault)
  }

  function finish(event: Buffer, data: EventData): Buffer[] {
    if (data.type === 'response.incomplete') return [...waiting, event]
    if (data.type !== 'response.completed') return [event]
    if (waiting.length > 0) fail(NO_OBJECT)
    const given = fieldsOrNone(data.response) as unknown as ReadResponse
    if (!Array.isArray(given.output)) return [event]
    const { response, fault } = readableResponse(given, asked.tools, calls.nameCall)
    if (fault !== null) fail(fault)
    return response === given ? [event] : [written({ ...data, response })]
  }

  function readEvent(event: Buffer): Buffer[] {
    const data: ItemEvent | null = eventData(event)
    if (data !== null && (LAST_EVENTS.includes(data.type) || data.type === 'error')) return finish(event, data)
    if (waiting.length > 0) return data?.type === 'response.output_item.added' ? fail(NO_OBJECT) : wait([event])
    switch (data?.type) {
      case 'response.output_item.added':
        return [calls.begin(event, data)]
      case 'response.function_call_arguments.delta':
        return calls.add(event, data)
      case 'response.function_call_arguments.done':
        return calls.endArguments(event, data) ?? wait([...calls.held(data), event])
      case 'response.output_item.done':
        return endItem(event, data)
      default:
        return [event]
    }
  }

  return {
    read: (events) => (waiting.length > 0 || events.includes(FUNCTION_CALL) ? mapEvents(events, readEvent) : events),
  }
}

/** A call that is being written. */
interface OpenCall {
  id: unknown
  at: unknown
  name: unknown
  args: HeldArguments<{ event: Buffer; data: ItemEvent }>
}

/** Calls of a streamed Response. */
interface Calls {
  nameCall: NameCall
  begin(event: Buffer, data: ItemEvent): Buffer
  add(event: Buffer, data: ItemEvent): Buffer[]
  /** Ends the arguments of a call. Null when they are not complete. */
  endArguments(event: Buffer, data: ItemEvent): Buffer[] | null
  /** Ends a complete call. */
  end(event: Buffer, data: ItemEvent): Buffer[]
  /** Takes the deltas of a call that wait for its end, as they came. */
  held(data: ItemEvent): Buffer[]
}

function createCalls(tools: unknown): Calls {
  const open: OpenCall[] = []
  /** Ids of calls that came without one, by the id of their item. */
  const named = new Map<unknown, string>()

  const nameCall: NameCall = ({ id }) => {
    const name = named.get(id) ?? itemId('call')
    named.set(id, name)
    return name
  }
  function find({ item, item_id, output_index: at }: ItemEvent): OpenCall | undefined {
    const wanted = fieldsOrNone(item).id ?? item_id
    return open.findLast(({ id }) => isText(id) && id === wanted) ?? open.findLast((call) => call.at === at)
  }
  /** Deltas that waited: the first has the whole arguments, so that the events keep their numbers. */
  const release = (call: OpenCall | undefined, args: string): Buffer[] =>
    (call?.args.take() ?? []).map(({ data }, at) => written({ ...data, delta: at === 0 ? args : '' }))

  return {
    nameCall,
    begin(event, data) {
      const item: Fields = fieldsOrNone(data.item)
      if (!isFunctionCall(item)) return event
      const { id, name, call_id } = item
      if (open.length === MOST) throw new WrongTypeError('output', `at most ${MOST} calls`)
      open.push({ id, at: data.output_index, name, args: heldArguments() })
      return isText(call_id) ? event : written({ ...data, item: { ...item, call_id: nameCall(item) } })
    },
    add(event, data) {
      const call = find(data)
      if (call === undefined || typeof data.delta !== 'string') return [event]
      return call.args.push(data.delta, { event, data }).map((one) => one.event)
    },
    endArguments(event, data) {
      const call = find(data)
      if (call === undefined) return [event]
      const text = argumentsText(data.arguments) || call.args.written()
      const args = readableArguments({ name: isText(call.name) ? call.name : '', arguments: text }, tools)
      if (args === null) return null
      const whole = args || '{}'
      return [...release(call, whole), data.arguments === whole ? event : written({ ...data, arguments: whole })]
    },
    end(event, data) {
      const item = fieldsOrNone(data.item)
      const mended = readableItem(item, tools, nameCall)
      return [
        ...release(find(data), String(mended.arguments)),
        mended === item ? event : written({ ...data, item: mended }),
      ]
    },
    held: (data) => (find(data)?.args.take() ?? []).map(({ event }) => event),
  }
}

const written = (event: object): Buffer => toSse([event as { type: string }])
