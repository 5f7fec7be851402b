import { errorBody, type GazewayError, typeOf } from '../../errors.ts'
import { parseJson } from '../../json.ts'
import { hideSecrets } from '../failure.ts'
import type { Provider } from '../provider.ts'
import { ReportedError } from '../reported-error.ts'
import type { Headers, WholeReply } from './send.ts'

/** Reply headers that tell a client something and hold nothing of the account; all others stay here. */
const PASSED = new Set(['content-type', 'retry-after', 'retry-after-ms', 'openai-processing-ms', 'x-upstream'])
const PASSED_PREFIX = 'x-ratelimit-'

/** What a client gets of the upstream's headers, and the id of the call by which its record is found. */
export function passedHeaders(headers: Headers, callId: string): Record<string, string> {
  const passed: Record<string, string> = { 'x-gazeway-call-id': callId }
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && (PASSED.has(name) || name.startsWith(PASSED_PREFIX))) passed[name] = value
  }
  return passed
}

/** Why a reply is neither an answer nor a refusal, whatever its body holds; null when it may be one. */
export function unfitness({ status }: WholeReply): string | null {
  if (status === 204 || status === 205 || status === 304) return `its reply has no body (${status})`
  return status >= 300 && status < 400 ? `it redirects (${status})` : null
}

/** A refusal of the upstream: what its client gets, and the same as an error. */
export interface Refusal {
  body: string
  error: ReportedError
}

/**
 * The upstream's refusal in OpenAI's error shape: its own body where that has the shape already, with what it said in
 * it otherwise. Should it repeat the gateway's key, that is taken out.
 */
export function readRefusal(reply: WholeReply, provider: Provider, requestId: string | null): Refusal {
  const { status } = reply
  const safe = hideSecrets(reply.body.toString('utf8'), provider.secrets)
  const parsed = parseJson(safe)
  const given = isObject(parsed) ? parsed : {}
  const own = { ...inShape(given, safe, reply, provider), ...(isObject(given.error) && given.error) }
  const error = { type: typeOf(status), ...own, param: own.param ?? null, request_id: requestId }
  const body = JSON.stringify(isObject(given.error) ? { ...given, error } : { error })
  return { body, error: new ReportedError(body.slice(0, 500), own.code, status) }
}

/** What a body of another shape says. */
function inShape(given: Record<string, unknown>, text: string, { status }: WholeReply, { name }: Provider) {
  const said = typeof given.error === 'string' ? given.error : text.slice(0, 500)
  const code = typeof given.code === 'string' ? given.code : 'upstream_error'
  return { message: said || `The upstream ${name} answered ${status} without a reason.`, code, param: null }
}

/** The error that ends a chat stream which has already begun. */
export const chatErrorEvent = (error: GazewayError, requestId: string | null): string =>
  `data: ${JSON.stringify({ error: errorBody(error, requestId) })}\n\n`

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
