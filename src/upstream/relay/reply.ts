import { errorBody, type GazewayError } from '../../errors.ts'
import { hideKey } from '../failure.ts'
import type { Provider } from '../provider.ts'
import type { Headers, WholeReply } from './send.ts'

/** Reply headers that tell a client something and hold nothing of the account; all others stay here. */
const PASSED = new Set(['content-type', 'retry-after', 'retry-after-ms', 'openai-processing-ms', 'x-upstream'])
const PASSED_PREFIX = 'x-ratelimit-'

/** The headers of the upstream's reply that are copied to the client's. */
export function passedHeaders(headers: Headers): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && (PASSED.has(name) || name.startsWith(PASSED_PREFIX))) passed[name] = value
  return passed
}

/**
 * The upstream's refusal in OpenAI's error shape, with its status: its own body where that has the shape already, with
 * what it said in it otherwise. Should it repeat the gateway's key, that is taken out.
 */
export function refusalBody(reply: WholeReply, provider: Provider, requestId: string | null): string {
  const safe = hideKey(reply.body.toString('utf8'), provider.apiKey)
  const parsed = parseJson(safe)
  if (isObject(parsed) && isObject(parsed.error)) return safe
  const said = isObject(parsed) && typeof parsed.error === 'string' ? parsed.error : safe.slice(0, 500)
  const code = isObject(parsed) && typeof parsed.code === 'string' ? parsed.code : 'upstream_error'
  const message = said || `The upstream ${provider.name} answered ${reply.status} without a reason.`
  const type = reply.status >= 500 ? 'upstream_error' : 'invalid_request_error'
  return JSON.stringify({ error: { message, type, code, param: null, request_id: requestId } })
}

/** The error that ends a chat stream which has already begun. */
export const chatErrorEvent = (error: GazewayError, requestId: string | null): string =>
  `data: ${JSON.stringify({ error: errorBody(error, requestId) })}\n\n`

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

/** What `text` holds; undefined when it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
