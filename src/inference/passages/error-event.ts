import type { GazewayError } from '../../errors.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import { geminiErrorOf } from '../api/gemini-error.ts'
import { messageErrorOf } from '../api/message-error.ts'
import { chatErrorEvent, responseErrorEvent, toSse } from './upstream-reply.ts'

/** Error event of a Message for an error reply in its format. Null for another body. */
export function refusedEvent(body: string): Buffer | null {
  const value = parseJson(body)
  return isObject(value) && value.type === 'error' ? toSse([{ ...value, type: 'error' }]) : null
}

/**
 * Error of a Gemini stream, as an event and as a bare body: `@google/genai` before 2.0, which Gemini CLI has, takes an
 * event with an error for one without an answer.
 */
function geminiErrorEvent(error: GazewayError, requestId: string | null): string {
  const body = JSON.stringify(geminiErrorOf(error, requestId))
  return `data: ${body}\n\n${body}\n`
}

/**
 * Error event that ends a stream which has begun, in the format of its endpoint.
 *
 * @param endpoint path below `/v1`
 * @param sequenceNumber number of the event, for a Response
 */
export function errorEvent(
  endpoint: string,
  error: GazewayError,
  requestId: string | null,
  sequenceNumber = 0,
): Buffer | string {
  if (endpoint === '/messages') return toSse([messageErrorOf(error, requestId)])
  if (endpoint === GENERATE_CONTENT) return geminiErrorEvent(error, requestId)
  return endpoint === '/responses'
    ? responseErrorEvent(error, requestId, sequenceNumber)
    : chatErrorEvent(error, requestId)
}
