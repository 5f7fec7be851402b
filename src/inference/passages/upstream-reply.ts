import { type GazewayError, linkedErrorBody, typeOf } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Bill } from '../admit/bill.ts'
import { CONTEXT_LENGTH_EXCEEDED, contextOverflow } from '../api/context-overflow.ts'
import { errorInBody, ReportedError, reportedIn } from '../api/reported-error.ts'
import { type Changes, changedHeader } from '../convert/reported-changes.ts'
import type { Headers, WholeReply } from '../relay/exchange.ts'
import { badReply, hideSecrets } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'

/** Reply headers passed on: useful to a client, and revealing nothing about the account. All others are dropped. */
const PASSED = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'openai-processing-ms',
  'x-upstream',
  'request-id',
])
const PASSED_PREFIX = /^(?:x-ratelimit-|anthropic-ratelimit-)/

/** Origin of a reply. */
export interface Origin {
  callId: string
  provider: Pick<Provider, 'id' | 'secrets'>
  /** Number of the attempt within the call, from 1. */
  attempt: number
  /** Bill of the call, with headers about the limits of the caller. */
  bill: Pick<Bill, 'headers'>
  /** Changes of the request on its way. */
  changes: Pick<Changes, 'list'>
}

/** Headers that name the upstream which answered, and the number of attempts. */
export const attemptHeaders = ({
  provider,
  attempt,
}: Pick<Origin, 'provider' | 'attempt'>): Record<string, string> => ({
  'x-gazeway-upstream': provider.id,
  'x-gazeway-attempts': String(attempt),
})

/** Headers that identify the call record, those of {@link attemptHeaders}, what was changed, and the caller's limits. */
export function originHeaders(origin: Origin): Record<string, string> {
  const headers: Record<string, string> = {
    'x-gazeway-call-id': origin.callId,
    'x-gazeway-upstream': origin.provider.id,
    'x-gazeway-attempts': String(origin.attempt),
  }
  // Field by field: a spread makes an object that is slow to go through.
  const limits = origin.bill.headers
  for (const name in limits) headers[name] = limits[name] as string
  const changes = origin.changes.list()
  if (changes.length > 0) Object.assign(headers, changedHeader(changes))
  return headers
}

/**
 * Headers for the client: the call's own, then the first of each of the upstream's. The gateway's key is removed from
 * them.
 */
export function passedHeaders(headers: Headers, origin: Origin): Record<string, string> {
  const { secrets } = origin.provider
  const limits = origin.bill.headers
  const passed = originHeaders(origin)
  for (const name in headers) {
    if ((!PASSED.has(name) && !PASSED_PREFIX.test(name)) || name in limits) continue
    const value = headers[name]
    const first = typeof value === 'string' ? value : value?.[0]
    if (first === undefined) continue
    passed[name] = secrets.some((secret) => first.includes(secret)) ? hideSecrets(first, secrets) : first
  }
  return passed
}

/** Reason why a reply is neither an answer nor an error reply, whatever its body. Null when it may be one. */
function unfitness({ status }: WholeReply): string | null {
  if (status === 204 || status === 205 || status === 304) return `its reply has no body (${status})`
  return status >= 300 && status < 400 ? `it redirects (${status})` : null
}

/** Text of a reply, without a byte order mark. */
export function bodyText({ body }: WholeReply): string {
  const text = body.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** The fields of a chat completion that are read here. */
export interface Completion {
  choices: unknown[]
  model?: unknown
  usage?: unknown
  service_tier?: unknown
}

/**
 * Reads the chat completion of a reply.
 *
 * @throws ReportedError when it contains an error instead, which some providers send with a success status;
 *   GazewayError `upstream_bad_reply` for anything else
 */
export function readCompletion(reply: WholeReply, provider: Provider): Completion {
  const value = readObject(reply, provider)
  const reported = reportedIn(value)
  if (reported) throw reported
  if (Array.isArray(value.choices)) return value as unknown as Completion
  throw badReply(provider, 'its reply is not a chat completion')
}

/** The fields of a Response that are read here. */
export interface ReadResponse {
  id?: unknown
  output: unknown[]
  status?: string
  usage?: unknown
  service_tier?: unknown
  error?: unknown
}

/**
 * Reads the Response of a reply. A failed one may have no output.
 *
 * @throws as `readCompletion`
 */
export function readResponse(reply: WholeReply, provider: Provider): ReadResponse {
  const value = readObject(reply, provider)
  if (Array.isArray(value.output) || value.status === 'failed') return value as unknown as ReadResponse
  throw reportedIn(value) ?? badReply(provider, 'its reply is not a response')
}

/** Reads the JSON object of a reply that is not an error reply. */
function readObject(reply: WholeReply, provider: Provider): Record<string, unknown> {
  const unfit = unfitness(reply)
  if (unfit) throw badReply(provider, unfit)
  const value = parseJson(bodyText(reply))
  return isObject(value) ? value : {}
}

/** An error reply of the upstream: the body for the client, and the error. */
export interface Refusal {
  body: string
  error: ReportedError
  /** Headers for the client. By default, those of the reply, with the type of JSON. */
  headers?: Headers
}

/**
 * Reads an error reply in OpenAI's format: the upstream's own body if it has the format, otherwise one with its
 * message. The gateway's key is removed.
 */
export function readRefusal(reply: WholeReply, provider: Provider, requestId: string | null): Refusal {
  const { status } = reply
  const safe = hideSecrets(bodyText(reply), provider.secrets)
  const parsed = parseJson(safe)
  const given = isObject(parsed) ? parsed : {}
  const found = errorInBody(parsed)
  const stated: Fields = { ...inShape(given, safe, reply, provider), ...(isObject(found) && readable(found)) }
  const overflow = contextOverflow(stated, status)
  const own = overflow === null ? stated : { ...stated, type: typeOf(400), code: CONTEXT_LENGTH_EXCEEDED }
  const error = { type: typeOf(status), ...own, param: own.param ?? null, request_id: requestId }
  const body = JSON.stringify(isObject(given.error) ? { ...given, error } : { error })
  const reason = cut(typeof own.message === 'string' ? own.message : body, 0, 500)
  return { body, error: new ReportedError(cut(body, 0, 500), { code: own.code, status, reason, overflow }) }
}

/** Error fields for a body in another format. */
function inShape(given: Fields, text: string, { status }: WholeReply, { name }: Provider) {
  const stated = typeof given.error === 'string' ? given.error : cut(text, 0, 500)
  const code = typeof given.code === 'string' ? given.code : 'upstream_error'
  return { message: stated || `The upstream ${name} answered ${status} without a reason.`, code, param: null }
}

/** Fields of an error that is a body of its own. */
const readable = ({ object: _, detail: __, ...fields }: Fields): Fields => fields

/** Serializes events of a Responses stream. */
export const toSse = (events: ReadonlyArray<{ type: string }>): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))

/** Events of a Responses or Messages stream as bytes, and whether one has output. Null for none. */
export const writtenEvents = <Event extends { type: string }>(
  events: readonly Event[],
  isOutput: (event: Event) => boolean,
): { bytes: Buffer; hasOutput: boolean } | null =>
  events.length === 0 ? null : { bytes: toSse(events), hasOutput: events.some(isOutput) }

/** Error event for a chat stream that has begun. */
export const chatErrorEvent = (error: GazewayError, requestId: string | null): string =>
  `data: ${JSON.stringify({ error: linkedErrorBody(error, requestId) })}\n\n`

/**
 * Error event for a Responses stream that has begun. The fields are at the top, as in the reference, and below `error`,
 * as OpenAI sends them: its SDK checks there first.
 */
export function responseErrorEvent(error: GazewayError, requestId: string | null, sequenceNumber: number): Buffer {
  const body = linkedErrorBody(error, requestId)
  const { code, message, param } = body
  const event = { type: 'error', code, message, param, sequence_number: sequenceNumber, error: body }
  return toSse([event])
}
