import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import { MESSAGE_STOP } from '../api/finish-reason.ts'
import { isReport } from '../api/reported-error.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import { mapEvents } from './mapped-events.ts'
import { toSse } from './upstream-reply.ts'

/** Marks of an end, of data and of a name, as bytes. */
const MESSAGE_DELTA = Buffer.from('message_delta')
const DATA = Buffer.from('data:')
const NAME = /^event:/m
const DONE = /^data: ?\[DONE\]/m

/** Gives the events of a streamed Message the form that Anthropic's SDKs read. */
export interface MessageFrames {
  /** Reads whole events, which the tap has seen. @returns the events for the client; the same where they have that form */
  read(events: Buffer): Buffer
  /** The last event, for a stream that ended without it. None unless its answer has a stop reason. */
  rest(): Buffer[]
}

/**
 * Watches the form of a streamed Message. Servers and proxies of other makers omit what their own clients do not need:
 *
 * - Events without names get those of their types: SDKs overlook them (https://github.com/earendil-works/pi/issues/1983).
 * - `[DONE]`, which is not in JSON, is taken out (https://github.com/vllm-project/vllm/pull/37510). An answer with a stop
 *   reason gets the `message_stop` that it stands for.
 * - Errors get the type `error`.
 */
export function watchMessageFrames({ ending, failed }: Pick<SseTap, 'ending' | 'failed'>): MessageFrames {
  /** Null until the first event with data. */
  let areNamed: boolean | null = null
  let hasReason = false
  let isStopped = false

  function readEvent(event: Buffer): Buffer[] {
    const data = eventData(event)
    if (data === null) return DONE.test(event.toString('latin1')) ? stopped() : [event]
    hasReason ||= isText(fieldsOrNone(data.delta).stop_reason)
    isStopped ||= data.type === MESSAGE_STOP
    if (isReport(data.error) && data.type === undefined) return [asError(data)]
    if (!isText(data.type) || NAME.test(event.toString('latin1'))) return [event]
    return [Buffer.concat([Buffer.from(`event: ${data.type}\n`), event])]
  }

  /** The last event, unless it has passed, or the answer is not complete. */
  function stopped(): Buffer[] {
    if (!hasReason || isStopped) return []
    isStopped = true
    return [toSse([{ type: MESSAGE_STOP }])]
  }

  return {
    read(events) {
      if (areNamed === null && events.includes(DATA)) areNamed = NAME.test(events.toString('latin1'))
      const isRead = areNamed === false || events.includes(MESSAGE_DELTA) || ending().done || failed() !== null
      return isRead ? mapEvents(events, readEvent) : events
    },
    rest: stopped,
  }
}

/** Error event for an error in another form. */
function asError({ error, ...more }: EventData): Buffer {
  const fields = isText(error) ? { message: error } : fieldsOrNone(error)
  const event = { ...more, type: 'error', error: { type: 'api_error', ...fields } }
  return toSse([event])
}
