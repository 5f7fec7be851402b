import { objectsOrNone } from '../../text/lenient-reader.ts'
import { CONTEXT_LENGTH_EXCEEDED } from '../api/context-overflow.ts'
import { choiceFault, errorInBody, type ReportedError, readReported } from '../api/reported-error.ts'
import type { EventData } from './event-data.ts'

/**
 * Error that an event of a stream reports: a chunk with `error`, at the top or in a choice; the event `error` in all its
 * forms; `response.failed`; or a whole error body. Null without one.
 */
export function faultIn(data: EventData): ReportedError | null {
  const { type, message, code, response, choices } = data
  if (type === 'response.failed') return readReported(response?.error)
  const error = errorInBody(data)
  if (error !== undefined) return readReported(error)
  if (type === 'error') return readReported({ message, code })
  return objectsOrNone(choices).map(choiceFault).find(Boolean) ?? null
}

/**
 * Shows a fault to the client of a stream. Clients look for a field `error` in an event, and take a stream with another
 * one for complete.
 *
 * @param event the event that reports it
 * @returns the event; an error event after it for a choice that failed, and instead of one in another form
 */
export function toldFault(event: Buffer, data: EventData, fault: ReportedError): Buffer {
  const isEvent = event.includes('data:') && !IN_LIST.test(event.toString('latin1'))
  if (isEvent && (FAILURES.has(data.type) || (data.error && fault.overflow === null))) return event
  return isEvent && data.choices !== undefined ? Buffer.concat([event, errorEvent(fault)]) : errorEvent(fault)
}

/** Types of events that report a failure. */
const FAILURES: ReadonlySet<unknown> = new Set(['error', 'response.failed'])
/** Matches an event whose data is a list. */
const IN_LIST = /^data:\s*\[/m

/** Error event that clients of chat completions, Messages and Responses all know. */
function errorEvent({ code, message, overflow }: ReportedError): Buffer {
  const said = { code: overflow === null ? (code ?? null) : CONTEXT_LENGTH_EXCEEDED, message, param: null }
  const type = overflow === null ? 'api_error' : 'invalid_request_error'
  const event = { type: 'error', ...said, error: { type, ...said } }
  return Buffer.from(`event: error\ndata: ${JSON.stringify(event)}\n\n`)
}
