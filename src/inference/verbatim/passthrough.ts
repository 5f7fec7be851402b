import * as z from 'zod'
import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { isDeeper, parseJson } from '../../text/json.ts'
import { record } from '../../text/loose.ts'
import { billFor } from '../admit/admit.ts'
import { type Bill, NO_BILL } from '../admit/bill.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import type { CallDeps } from '../call.ts'
import { signalClient } from '../client/signal-client.ts'
import { type Generated, NOTHING } from '../observe/observe.ts'
import { createSseTap } from '../observe/sse-tap.ts'
import type { OpenUpstream } from '../open.ts'
import type { Headers, StreamReply, WholeReply } from '../relay/exchange.ts'
import { CLIENT_GONE, endingOf } from '../relay/send.ts'
import { beginCall } from '../settle/settle.ts'
import { badReply, hideSecrets, streamFailure, upstreamFailure } from '../upstreams/failure.ts'
import { modelFor } from '../upstreams/model-for.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelChoice, Provider } from '../upstreams/provider.ts'

/** Default limit of a reply, which goes into a model's context. */
const REPLY_LIMIT_BYTES = 256 * 1024
/** Shortest secret that cannot be an ordinary word. Providers' keys are longer. */
const SHORTEST_NO_WORD = 16
/** Bytes of a reply that are read for its usage, which may come last. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024
/** Deepest nesting of a reply: its consumers recurse per level. */
const MAX_LEVELS = 1000
/** Endpoints whose reply is a model's answer. Its usage is estimated when none is reported. */
const ANSWERED: readonly string[] = ENDPOINTS
/** Reply headers that are useful to the caller and reveal nothing about the account. */
const SAFE_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'openai-processing-ms', 'x-upstream']
const SAFE_HEADER_PREFIX = 'x-ratelimit-'

/** A request to the upstream that no tool covers. */
export const PassthroughRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE']),
  path: z.string().min(1).max(1024).describe('Below the upstream\'s base URL, for example "/models"'),
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  body: z.unknown().optional().describe('JSON to send with POST; the other methods take none'),
})
export type PassthroughRequest = z.infer<typeof PassthroughRequest>

/** Reply of the upstream, also an error. `truncated` is set when the body exceeds 256 KiB and was cut there. */
export const PassthroughReply = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().describe('Parsed if the reply is complete JSON, else text'),
  truncated: z.boolean(),
  call_id: z.string(),
})
export type PassthroughReply = z.infer<typeof PassthroughReply>

/** Dependencies of the passthrough. */
export interface PassthroughDeps extends CallDeps {
  open(): Promise<OpenUpstream>
  /**
   * Upstream to use, whatever the request names. By default the first upstream that the model in the body is routed to.
   */
  only?: NamedUpstream
}

/**
 * Sends one request to the upstream with its own key, for requests that no tool covers. Returns whatever the upstream
 * answers, also errors, without the key and the account's headers.
 *
 * @param deps.limitBytes limit of the reply; 256 KiB by default, 16 MiB at most
 * @throws GazewayError `forbidden_path` for anything but an allowed path below the base URL; `validation_failed` for a
 *   body with a method that takes none, or one that cannot be serialized. No request is made then
 */
export async function passThrough(
  {
    limitBytes = REPLY_LIMIT_BYTES,
    ...deps
  }: PassthroughDeps & { allowedPaths: readonly string[]; limitBytes?: number },
  request: PassthroughRequest,
  context: CallContext,
): Promise<PassthroughReply> {
  const { upstream, model: named } = targetOf(deps, request.body)
  const { provider } = upstream
  const url = targetUrl(provider, request.path, deps.allowedPaths)
  const { method } = request
  // Models set unused fields to null.
  if (method !== 'POST' && (request.body ?? null) !== null)
    throw new GazewayError(
      'validation_failed',
      `body: not allowed with ${method}; omit it, or move its fields into query. No request was made.`,
      { param: 'body' },
    )
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, String(value))

  provider.requireKey()
  const requested = modelOf(request.body)
  const model =
    named === null ? null : { ...(await modelFor(upstream, named, 'chat', context)), requested: requested ?? named }
  const body = model ? { ...(request.body as object), model: model.upstream } : request.body
  const sent = method === 'POST' && body !== undefined ? written(body) : null
  const below = url.href.slice(provider.baseUrl.length)
  const path = below.split('?')[0] ?? request.path
  const stream = record(body).stream === true
  const relays = (await deps.open()).relaysOf(upstream)
  const circuit = model === null ? null : { path, model: model.upstream, callerId: context.callerId }
  const [relay = relays.firstAwake(circuit)] = relays.awake(circuit)
  const bill = await billOf(deps, { path, text: sent, body, model }, context)
  const call = beginCall(deps, { provider, path, model, stream, request: body, bill, isRecorded: true }, context)
  const client = signalClient(context.signal)
  const started = performance.now()
  let reply: WholeReply | StreamReply | undefined
  const chunks: Uint8Array[] = []

  /** Usage reported so far, or the text to estimate it from. */
  function observed() {
    const { reported, serviceTier, generated } = readReply(Buffer.concat(chunks))
    const isAnswer = reply !== undefined && reply.status < 300 && ANSWERED.includes(path)
    return reported || !isAnswer || generated.text === ''
      ? { ...NOTHING, usage: reported, serviceTier }
      : { usage: null, serviceTier, generated: () => generated }
  }
  try {
    reply = await relay.open(
      below,
      { method, body: sent, stream, via: context.via, cutAtBytes: READ_LIMIT_BYTES, circuit },
      client,
    )
    if (reply.kind === 'whole') chunks.push(reply.body)
    else await readStream(reply, chunks, provider)
    const { status } = reply
    const value = shown(reply, Buffer.concat(chunks), { provider, limitBytes })
    const error = status < 400 ? null : new Error(`The upstream answered ${status}.`)
    const { callId, usage } = await call.settle({
      httpStatus: status,
      error,
      ...observed(),
      answer: value,
      isHad: true,
    })
    const latencyMs = Math.round(performance.now() - started)
    await bill.settle({ callId, model: model?.requested ?? '', usage, latencyMs, path: `/v1${path}` })
    return { ...value, call_id: callId }
  } catch (error) {
    const failure = upstreamFailure(error, provider, endingOf(client))
    failure.callId = call.callId
    await call.settle({ httpStatus: reply?.status ?? null, error: failure, ...observed(), answer: null, isHad: false })
    throw failure
  } finally {
    client.release()
    bill.end()
  }
}

/** Upstream of a request, and the model's name there. The upstream `default` when it names no model. */
function targetOf(
  { only, routing }: PassthroughDeps,
  body: unknown,
): { upstream: NamedUpstream; model: string | null } {
  const asked = modelOf(body)
  if (only !== undefined || asked === null) return { upstream: only ?? routing.upstreams[0], model: asked }
  return routing.targets(asked, 'chat').all[0]
}

/** Bill of a request that calls a model. Other requests have no limits. */
function billOf(
  deps: PassthroughDeps,
  { path, text, body, model }: { path: string; text: string | null; body: unknown; model: ModelChoice | null },
  context: CallContext,
): Bill | Promise<Bill> {
  if (text === null || model === null) return NO_BILL
  const request = { bytes: Buffer.from(text), text, json: record(body) }
  return billFor({ ...deps.billing, ...deps }, { path: `/v1${path}`, request, models: () => [model] }, context)
}

/** Serializes a body. One that nests very deeply can be parsed but not serialized. */
function written(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    // V8 reports an exhausted stack as a RangeError.
    if (!(cause instanceof RangeError)) throw cause
    const message = 'body: nested too deeply; at most a few thousand levels are allowed. No request was made.'
    throw new GazewayError('validation_failed', message, { param: 'body', cause })
  }
}

/** Reply as its caller sees it. */
function shown(
  { status, headers, announced }: WholeReply | StreamReply,
  whole: Buffer,
  { provider, limitBytes }: { provider: Provider; limitBytes: number },
): Omit<PassthroughReply, 'call_id'> {
  const truncated = whole.length > limitBytes
  const { secrets } = provider
  const text = withoutSecrets(whole.toString('utf8', 0, limitBytes), status < 300 ? secrets.filter(isNoWord) : secrets)
  const json = truncated ? undefined : parseJson(text)
  // A body that is not JSON is returned as text.
  const parsed = json === undefined ? text : json
  if (isDeeper(parsed, MAX_LEVELS)) throw badReply(provider, `its reply nests more than ${MAX_LEVELS} levels deep`)
  const named = { ...headers, 'content-type': announced }
  return { status, headers: safeHeaders(named, secrets), body: parsed, truncated }
}

/**
 * Resolves a path to a URL below the base URL.
 *
 * Only plain path characters are allowed. An encoded slash or dot, a backslash, or an empty or dot segment may mean
 * another place to another server, and no upstream path needs one.
 */
function targetUrl(provider: Provider, path: string, allowed: readonly string[]): URL {
  const forbidden = (why: string) =>
    new GazewayError('forbidden_path', `The path ${JSON.stringify(path.slice(0, 200))} ${why}. No request was made.`, {
      param: 'path',
    })
  if (!/^\/[\w.~:@!$&'()*+,;=/-]*$/.test(path)) throw forbidden('must be a plain path that starts with one slash')
  const segments = path.slice(1).split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw forbidden('must not have empty, "." or ".." segments')

  const base = new URL(provider.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  const below = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  if (!allowed.some((entry) => below === entry || below.startsWith(`${entry}/`)))
    throw forbidden(`is not on the list (upstream.allowed_paths): ${allowed.join(', ')}`)

  const url = new URL(provider.baseUrl + below)
  if (url.origin !== base.origin || url.pathname !== prefix + below) throw forbidden('does not stay below the upstream')
  return url
}

/** Reads a stream into `chunks`, to its end or to the limit. */
function readStream({ consume, exchange }: StreamReply, chunks: Uint8Array[], provider: Provider): Promise<void> {
  let size = 0
  return new Promise((resolve, reject) => {
    consume({
      onData(chunk) {
        if (size > READ_LIMIT_BYTES) return
        chunks.push(chunk)
        size += chunk.length
        if (size <= READ_LIMIT_BYTES) return
        resolve()
        exchange.abort()
      },
      onEnd: resolve,
      onError: (error) => reject(error === CLIENT_GONE ? error : streamFailure(error, provider)),
    })
  })
}

function safeHeaders(headers: Headers, secrets: readonly string[]): Record<string, string> {
  const safe = Object.entries(headers).flatMap(([name, value]) =>
    value !== undefined && (SAFE_HEADERS.includes(name) || name.startsWith(SAFE_HEADER_PREFIX))
      ? [[name, hideSecrets([value].flat().join(', '), secrets)]]
      : [],
  )
  return Object.fromEntries(safe)
}

/**
 * Tells whether a secret cannot be part of an ordinary answer. A common key such as `lm-studio` is also part of model
 * ids.
 */
const isNoWord = (secret: string): boolean => secret.length >= SHORTEST_NO_WORD

/** Removes secrets from a text, including one that is cut at the end. Up to three characters of that one may remain. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const halves = secrets.map((secret) => {
    let length = secret.length - 1
    while (length > 3 && !text.endsWith(secret.slice(0, length))) length--
    return length > 3 ? length : 0
  })
  return hideSecrets(text.slice(0, text.length - Math.max(0, ...halves)), secrets)
}

function modelOf(body: unknown): string | null {
  const { model } = record(body)
  return typeof model === 'string' ? model : null
}

/** Usage reported by a reply, as far as it was read, and the model's text. */
function readReply(reply: Buffer): { reported: Usage | null; serviceTier: unknown; generated: Generated } {
  const whole = parseJson(reply.toString('utf8'))
  if (whole !== undefined) {
    const { usage, service_tier, response, choices, output, content } = record(whole)
    const generated = choices ?? output ?? content
    return {
      reported: readUsage(usage ?? record(response).usage),
      serviceTier: service_tier,
      generated: { text: generated === undefined ? '' : JSON.stringify(generated), factor: 1 },
    }
  }
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  tap.push(reply.subarray(0, READ_LIMIT_BYTES))
  tap.rest()
  return { reported: tap.usage(), serviceTier: tap.serviceTier(), generated: tap.generated() }
}
