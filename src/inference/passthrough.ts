import * as z from 'zod'
import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import { readUsage, type Usage } from '../providers/token-usage.ts'
import { isDeeper, parseJson } from '../text/json.ts'
import { billFor } from './admit.ts'
import { type Bill, NO_BILL } from './bill.ts'
import type { CallDeps } from './call-model.ts'
import { record } from './convert/loose.ts'
import { ENDPOINTS } from './endpoints.ts'
import { badReply, hideSecrets, streamFailure, upstreamFailure } from './failure.ts'
import { modelFor } from './model-for.ts'
import type { NamedUpstream } from './named-upstream.ts'
import { NOTHING, type Said } from './observe.ts'
import type { OpenUpstream } from './open-upstream.ts'
import type { ModelChoice, Provider } from './provider.ts'
import { CLIENT_GONE, endingOf, type Headers, type StreamReply, type WholeReply } from './relay/send.ts'
import { createSseTap } from './relay/sse-tap.ts'
import { beginCall } from './settle.ts'
import { signalClient } from './signal-client.ts'

/** More of a reply than this is cut off unless told otherwise: it goes into a model's context. */
const REPLY_LIMIT_BYTES = 256 * 1024
/** Keys that providers make are longer. */
const SHORTEST_NO_WORD = 16
/** As much of a reply is read for the usage that it reports, which may come last. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024
/** How deep a reply may nest: what reads it on the way to a client does so level by level. */
const MOST_LEVELS = 1000
/** Endpoints whose reply is a model's answer: it is counted where no usage is reported. */
const ANSWERED: readonly string[] = ENDPOINTS
/** Headers that tell the caller something and hold nothing of the account. */
const SAFE_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'openai-processing-ms', 'x-upstream']
const SAFE_HEADER_PREFIX = 'x-ratelimit-'

/** One request to the upstream, for what has no tool of its own. */
export const PassthroughRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE']),
  path: z.string().min(1).max(1024).describe('Below the upstream\'s base URL, for example "/models"'),
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  body: z.unknown().optional().describe('JSON to send with POST; the other methods take none'),
})
export type PassthroughRequest = z.infer<typeof PassthroughRequest>

/** What the upstream answered, an error too. `truncated`: the body was longer than 256 KiB and is cut off there. */
export const PassthroughReply = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().describe('Parsed where the reply is whole JSON, else text'),
  truncated: z.boolean(),
  call_id: z.string(),
})
export type PassthroughReply = z.infer<typeof PassthroughReply>

/** What requests are passed on with. */
export interface PassthroughDeps extends CallDeps {
  open(): Promise<OpenUpstream>
  /** Who is asked whatever the request names; absent: the upstream that would be asked first for the model in its body. */
  only?: NamedUpstream
}

/**
 * One request to the upstream with its own key, for what has no tool of its own. Whatever the upstream answers comes
 * back, errors too; the key and the account's headers do not.
 *
 * @param deps.limitBytes more of a reply than this is cut off; 256 KiB when absent, 16 MiB at most
 * @throws GazewayError `forbidden_path` for anything but a listed path below the base URL, `validation_failed` for a body
 *   where the method takes none, or one that cannot be written; no request is made then
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
  // Models fill in null where they have nothing for a field.
  if (method !== 'POST' && (request.body ?? null) !== null)
    throw new GazewayError(
      'validation_failed',
      `body: ${method} takes none; leave it out, or put its fields into query. No request was made.`,
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
  const [relay = relays.firstAwake()] = relays.awake()
  const bill = await billOf(deps, { path, text: sent, body, model }, context)
  const call = beginCall(deps, { provider, path, model, stream, request: body, bill }, context)
  const client = signalClient(context.signal)
  const started = performance.now()
  let reply: WholeReply | StreamReply | undefined
  const chunks: Uint8Array[] = []

  /** What the reply, as far as it has come, says that was used, or what is counted in its place. */
  function observed() {
    const { reported, said } = readReply(Buffer.concat(chunks))
    const isAnswer = reply !== undefined && reply.status < 300 && ANSWERED.includes(path)
    return reported || !isAnswer || said.text === ''
      ? { ...NOTHING, usage: reported }
      : { usage: null, said: () => said }
  }
  try {
    reply = await relay.open(
      below,
      { method, body: sent, stream, via: context.via, cutAtBytes: READ_LIMIT_BYTES },
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

/** The upstream that a request is for, and the name of its model there: the upstream `default` for one that names none. */
function targetOf(
  { only, routing }: PassthroughDeps,
  body: unknown,
): { upstream: NamedUpstream; model: string | null } {
  const asked = modelOf(body)
  if (only !== undefined || asked === null) return { upstream: only ?? routing.upstreams[0], model: asked }
  return routing.targets(asked, 'chat').all[0]
}

/** The bill of a request that asks a model; nobody is held to any other. */
function billOf(
  deps: PassthroughDeps,
  { path, text, body, model }: { path: string; text: string | null; body: unknown; model: ModelChoice | null },
  context: CallContext,
): Bill | Promise<Bill> {
  if (text === null || model === null) return NO_BILL
  const request = { bytes: Buffer.from(text), text, json: record(body) }
  return billFor({ ...deps.billing, ...deps }, { path: `/v1${path}`, request, models: () => [model] }, context)
}

/** A body as JSON; one that nests very deeply can be read but not written. */
function written(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    // V8 reports an exhausted stack so.
    if (!(cause instanceof RangeError)) throw cause
    const message = 'body: it is nested too deeply; some thousand levels are accepted. No request was made.'
    throw new GazewayError('validation_failed', message, { param: 'body', cause })
  }
}

/** A reply as its caller sees it. */
function shown(
  { status, headers, announced }: WholeReply | StreamReply,
  whole: Buffer,
  { provider, limitBytes }: { provider: Provider; limitBytes: number },
): Omit<PassthroughReply, 'call_id'> {
  const truncated = whole.length > limitBytes
  const { secrets } = provider
  const text = withoutSecrets(whole.toString('utf8', 0, limitBytes), status < 300 ? secrets.filter(isNoWord) : secrets)
  const json = truncated ? undefined : parseJson(text)
  // What is not JSON comes back as its text.
  const parsed = json === undefined ? text : json
  if (isDeeper(parsed, MOST_LEVELS)) throw badReply(provider, `its reply nests more than ${MOST_LEVELS} levels deep`)
  const named = { ...headers, 'content-type': announced }
  return { status, headers: safeHeaders(named, secrets), body: parsed, truncated }
}

/**
 * The URL that a path names below the base URL.
 *
 * Only plain path characters are let through: an encoded slash or dot, a backslash, an empty or dot segment can each
 * mean another place to another server, and no upstream path needs one.
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
  if (url.origin !== base.origin || url.pathname !== prefix + below) throw forbidden('leads away from the upstream')
  return url
}

/** Reads a stream into `chunks`, to its end or to the most that is read of one. */
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

/** Whether a secret cannot be a part of an answer: `lm-studio`, a usual key, is one of model ids, too. */
const isNoWord = (secret: string): boolean => secret.length >= SHORTEST_NO_WORD

/** A text without secrets, nor the part of one that it may have been cut in; three characters of it tell nothing. */
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

/** What a reply, or as much of it as has come, reports of its usage, and what the model says in it. */
function readReply(reply: Buffer): { reported: Usage | null; said: Said } {
  const whole = parseJson(reply.toString('utf8'))
  if (whole !== undefined) {
    const { usage, response, choices, output, content } = record(whole)
    const said = choices ?? output ?? content
    return {
      reported: readUsage(usage ?? record(response).usage),
      said: { text: said === undefined ? '' : JSON.stringify(said), factor: 1 },
    }
  }
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  tap.push(reply.subarray(0, READ_LIMIT_BYTES))
  tap.rest()
  return { reported: tap.usage(), said: tap.said() }
}
