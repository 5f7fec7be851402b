import { errorBody, type GazewayError, typeOf } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { badReply, hideSecrets } from '../failure.ts'
import type { Provider } from '../provider.ts'
import { ReportedError, reportedIn } from '../reported-error.ts'
import type { Headers, WholeReply } from './send.ts'

/** Reply headers that tell a client something and hold nothing of the account; all others stay here. */
const PASSED = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'openai-processing-ms',
  'x-upstream',
  'request-id',
])
const PASSED_PREFIX = /^(?:x-ratelimit-|anthropic-ratelimit-)/

/** Whom a reply comes from. */
export interface Origin {
  callId: string
  provider: Pick<Provider, 'id' | 'secrets'>
  /** Its place among the attempts of the call, from 1. */
  attempt: number
}

/** The headers that say which upstream answered, and how many were asked. */
export const attemptHeaders = ({
  provider,
  attempt,
}: Pick<Origin, 'provider' | 'attempt'>): Record<string, string> => ({
  'x-gazeway-upstream': provider.id,
  'x-gazeway-attempts': String(attempt),
})

/** The headers by which the record of a call is found, and those of {@link attemptHeaders}. */
export const originHeaders = (origin: Origin): Record<string, string> => ({
  'x-gazeway-call-id': origin.callId,
  'x-gazeway-upstream': origin.provider.id,
  'x-gazeway-attempts': String(origin.attempt),
})

/**
 * What a client gets of the upstream's headers, the first of each, after the call's own. Should the upstream repeat the
 * gateway's key there, that is taken out.
 */
export function passedHeaders(headers: Headers, origin: Origin): Record<string, string> {
  const { secrets } = origin.provider
  const passed = originHeaders(origin)
  for (const name in headers) {
    if (!PASSED.has(name) && !PASSED_PREFIX.test(name)) continue
    const value = headers[name]
    const first = typeof value === 'string' ? value : value?.[0]
    if (first === undefined) continue
    passed[name] = secrets.some((secret) => first.includes(secret)) ? hideSecrets(first, secrets) : first
  }
  return passed
}

/** Why a reply is neither an answer nor a refusal, whatever its body holds; null when it may be one. */
function unfitness({ status }: WholeReply): string | null {
  if (status === 204 || status === 205 || status === 304) return `its reply has no body (${status})`
  return status >= 300 && status < 400 ? `it redirects (${status})` : null
}

/** The text of a reply, without the byte order mark that some servers begin it with. */
export function bodyText({ body }: WholeReply): string {
  const text = body.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** A chat completion, as far as it is read here. */
export interface Completion {
  choices: unknown[]
  model?: unknown
  usage?: unknown
}

/**
 * The chat completion that a reply holds.
 *
 * @throws ReportedError where it holds an error in its place, which some providers send as a success; GazewayError
 *   `upstream_bad_reply` for anything else
 */
export function readCompletion(reply: WholeReply, provider: Provider): Completion {
  const value = readObject(reply, provider)
  const reported = reportedIn(value)
  if (reported) throw reported
  if (Array.isArray(value.choices)) return value as unknown as Completion
  throw badReply(provider, 'its reply is not a chat completion')
}

/** A Response, as far as it is read here. */
export interface ReadResponse {
  id?: unknown
  output: unknown[]
  status?: string
  usage?: unknown
  error?: unknown
}

/** The Response that a reply holds, which may have failed, and have no output then. @throws as `readCompletion` */
export function readResponse(reply: WholeReply, provider: Provider): ReadResponse {
  const value = readObject(reply, provider)
  if (Array.isArray(value.output) || value.status === 'failed') return value as unknown as ReadResponse
  throw reportedIn(value) ?? badReply(provider, 'its reply is not a response')
}

/** What a reply holds that is no refusal; nothing is in what is no object. */
function readObject(reply: WholeReply, provider: Provider): Record<string, unknown> {
  const unfit = unfitness(reply)
  if (unfit) throw badReply(provider, unfit)
  const value = parseJson(bodyText(reply))
  return isObject(value) ? value : {}
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
  const safe = hideSecrets(bodyText(reply), provider.secrets)
  const parsed = parseJson(safe)
  const given = isObject(parsed) ? parsed : {}
  const own = { ...inShape(given, safe, reply, provider), ...(isObject(given.error) && given.error) }
  const error = { type: typeOf(status), ...own, param: own.param ?? null, request_id: requestId }
  const body = JSON.stringify(isObject(given.error) ? { ...given, error } : { error })
  const reason = typeof own.message === 'string' ? own.message : body
  return { body, error: new ReportedError(cut(body, 0, 500), own.code, status, cut(reason, 0, 500)) }
}

/** What a body of another shape says. */
function inShape(given: Record<string, unknown>, text: string, { status }: WholeReply, { name }: Provider) {
  const said = typeof given.error === 'string' ? given.error : cut(text, 0, 500)
  const code = typeof given.code === 'string' ? given.code : 'upstream_error'
  return { message: said || `The upstream ${name} answered ${status} without a reason.`, code, param: null }
}

/** Events of a Responses stream, as its client gets them. */
export const toSse = (events: ReadonlyArray<{ type: string }>): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))

/** The error that ends a chat stream which has already begun. */
export const chatErrorEvent = (error: GazewayError, requestId: string | null): string =>
  `data: ${JSON.stringify({ error: errorBody(error, requestId) })}\n\n`

/**
 * The error that ends a Responses stream which has already begun: flat as the reference has it, and under `error` as
 * OpenAI sends it, which is where its SDK looks before it takes the stream for an answer.
 */
export function responseErrorEvent(error: GazewayError, requestId: string | null, sequenceNumber: number): Buffer {
  const body = errorBody(error, requestId)
  const { code, message, param } = body
  const event = { type: 'error', code, message, param, sequence_number: sequenceNumber, error: body }
  return toSse([event])
}
