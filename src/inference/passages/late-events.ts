import { GazewayError } from '../../errors.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import { errorInBody, readReported } from '../api/reported-error.ts'
import type { ChatCompletion, Message } from '../api/requests.ts'
import { completionChunks } from '../convert/completion-chunks.ts'
import { messageEvents } from '../convert/message-events.ts'
import { responseEvents } from '../convert/response-events.ts'
import { errorEvent } from './error-event.ts'
import { toSse } from './upstream-reply.ts'

/** Paths below `/v1` whose streams are server-sent events at every upstream. */
const EVENT_PATHS: ReadonlySet<string> = new Set([...ENDPOINTS, '/completions', '/images/generations'])

/** Tells whether the stream of a request may begin before its upstream has answered. */
export const mayBeginEarly = (endpoint: string, { stream }: { stream?: unknown }): boolean =>
  stream === true && EVENT_PATHS.has(endpoint)

/**
 * Converts a whole reply to the events that end a stream, for a client whose stream has begun meanwhile.
 *
 * @param endpoint path below `/v1`
 * @throws WrongTypeError for an answer in another form
 */
export function lateEvents(
  endpoint: string,
  { status, body }: { status: number; body: Buffer | string },
  requestId: string | null,
): Buffer | string {
  const value = parseJson(String(body))
  if (status >= 300 || !isObject(value)) {
    const reported = readReported(errorInBody(value))
    const error = new GazewayError('upstream_error', reported.message, { status, cause: reported })
    return errorEvent(endpoint, error, requestId)
  }
  if (endpoint === '/messages') return toSse(messageEvents(value as unknown as Message))
  if (endpoint === GENERATE_CONTENT) return `data: ${JSON.stringify(value)}\n\n`
  if (endpoint === '/responses') return toSse([...responseEvents(value)])
  const isChat = endpoint === '/chat/completions'
  const events = isChat ? completionChunks(value as unknown as ChatCompletion, { withUsage: true }) : [value]
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
}
