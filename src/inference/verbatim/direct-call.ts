import * as z from 'zod'
import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { isDeeper, parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { gatherBytes } from '../../wire/gathered-bytes.ts'
import { ReportedError } from '../api/reported-error.ts'
import { asksModel, type Cost, VERBATIM_PATHS } from '../api/verbatim-paths.ts'
import { type SignalClient, signalClient } from '../client/signal-client.ts'
import type { OpenUpstream } from '../open.ts'
import { verbatimPassage } from '../passages/verbatim-passage.ts'
import type { Headers, StreamReply, WholeReply } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Routing } from '../route/routing.ts'
import { planOf, verbatimCandidate } from '../route/verbatim-routes.ts'
import { badReply, hideSecrets } from '../upstreams/failure.ts'
import { modelFor } from '../upstreams/model-for.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { Provider } from '../upstreams/provider.ts'

/** Default limit of a reply, which goes into a model's context. */
const REPLY_LIMIT_BYTES = 256 * 1024
/** Shortest secret that cannot be an ordinary word. Providers' keys are longer. */
const SHORTEST_NO_WORD = 16
/** Bytes of a reply that are read for its usage, which may come last. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024
/** Deepest nesting of a reply: its consumers recurse per level. */
const MAX_LEVELS = 1000
/** Reply headers that are useful to the caller and reveal nothing about the account. */
const SAFE_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'openai-processing-ms', 'x-upstream']
const SAFE_HEADER_PREFIX = 'x-ratelimit-'

/** A request to the upstream that no tool covers. */
export const DirectRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE']),
  path: z.string().min(1).max(1024).describe("Below the upstream's base URL"),
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  body: z.unknown().optional().describe('JSON, with POST only'),
})
export type DirectRequest = z.infer<typeof DirectRequest>

/** Reply of the upstream, also an error. `truncated` is set when the body exceeds 256 KiB and was cut there. */
export const DirectReply = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().describe('Parsed if the reply is complete JSON, else text'),
  truncated: z.boolean(),
  call_id: z.string(),
})
export type DirectReply = z.infer<typeof DirectReply>

/** Dependencies of the passthrough. */
export interface DirectCallDeps {
  routing: Routing
  open(): Promise<Pick<OpenUpstream, 'makeCall' | 'relaysOf'>>
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
 * @param deps.isRecorded false for a request that is no call
 * @throws GazewayError `forbidden_path` for anything but an allowed path below the base URL; `validation_failed` for a
 *   body with a method that takes none, or one that cannot be serialized. No request is made then
 */
export async function directCall(
  deps: DirectCallDeps & { allowedPaths: readonly string[]; limitBytes?: number; isRecorded?: boolean },
  request: DirectRequest,
  context: CallContext,
): Promise<DirectReply> {
  const { limitBytes = REPLY_LIMIT_BYTES, isRecorded = true } = deps
  const { upstream, model: named } = targetOf(deps, request.body)
  const { provider } = upstream
  const target = targetIn(provider, request, deps.allowedPaths)
  provider.requireKey()
  const requested = modelOf(request.body) ?? ''
  const choice = named === null ? null : { ...(await modelFor(upstream, named, 'chat', context)), requested }
  const { makeCall, relaysOf } = await deps.open()
  const client = signalClient(context.signal)
  const { reply, receiver } = collecting(client)
  const { method, body } = request
  const hasBody = method === 'POST' && body !== undefined
  const text = hasBody ? written(body) : ''
  const path = target.split('?')[0] as string
  const cost = choice === null || !hasBody ? null : costOf(path)
  // A body that names no model may be any JSON.
  const formType = choice === null ? 'application/json' : null
  const route = { method, path, body: hasBody ? 'json' : 'none', cost: cost ?? 'nothing' } as const
  const passage = verbatimPassage({
    route,
    target,
    formType,
    visible: null,
    cutAtBytes: READ_LIMIT_BYTES,
    onReply: reply.begin,
  })
  const asked = {
    endpoint: path,
    request: { bytes: Buffer.from(text), text, json: fieldsOrNone(body) },
    retries: 0,
    needsText: false,
    verbatim: { cost, formType, isRecorded },
  }
  const plan = planOf([verbatimCandidate(relaysOf(upstream), { path, passage }, choice)])
  try {
    const { callId, failure } = await makeCall(asked, plan, receiver, { ...context, requestId: null })
    if (failure && reply.isBroken(failure)) throw failure
    return { ...shown(reply.whole(failure), { provider, limitBytes }), call_id: callId }
  } finally {
    client.release()
  }
}

/** Cost of a request that asks a model: as of the passed path, otherwise of an answer. */
const costOf = (path: string): Cost =>
  VERBATIM_PATHS.find((known) => known.path === path && asksModel(known))?.cost ?? 'answer'

/** The reply of a call, as its upstream sent it. */
interface CollectedReply {
  begin(reply: WholeReply | StreamReply): void
  /** Tells whether a failure cut the reply off. */
  isBroken(failure: GazewayError): boolean
  /** The reply; when all keys of the upstream failed, that of the first. */
  whole(failure: GazewayError | null): WholeReply
}

/** Collects a reply in memory. The beginning of a stream suffices that `cutAtBytes` lets pass. */
function collecting(client: SignalClient): { reply: CollectedReply; receiver: Receiver } {
  const replies: Array<WholeReply | StreamReply> = []
  const received = gatherBytes()
  const receiver: Receiver = {
    beat() {},
    isGone: client.isGone,
    onGone: client.onGone,
    reason: client.reason,
    whole() {},
    head() {},
    write(bytes) {
      received.push(Buffer.from(bytes as Buffer))
      return true
    },
    onDrain() {},
    end(bytes) {
      if (bytes !== undefined) receiver.write(bytes)
    },
    drop() {},
  }
  const reply: CollectedReply = {
    begin: (begun) => void replies.push(begun),
    // The stream itself says that its upstream has failed.
    isBroken: ({ cause }) => replies.at(-1)?.kind === 'stream' && !(cause instanceof ReportedError),
    whole(failure) {
      const [last] = failure ? replies : replies.slice(-1)
      if (last?.kind === 'whole') return last
      return { ...(last as StreamReply), kind: 'whole', body: Buffer.concat(received.take()) }
    },
  }
  return { reply, receiver }
}

/** Upstream of a request, and the model's name there. The upstream `default` when it names no model. */
function targetOf({ only, routing }: DirectCallDeps, body: unknown): { upstream: NamedUpstream; model: string | null } {
  const asked = modelOf(body)
  if (only !== undefined || asked === null) return { upstream: only ?? routing.upstreams[0], model: asked }
  return routing.targets(asked, 'chat').all[0]
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
  { status, headers, announced, body: whole }: WholeReply,
  { provider, limitBytes }: { provider: Provider; limitBytes: number },
): Omit<DirectReply, 'call_id'> {
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
 * Path of a request below the base URL, with its query.
 *
 * @throws GazewayError `forbidden_path` or `validation_failed`
 */
function targetIn(
  provider: Provider,
  { method, path, query, body }: DirectRequest,
  allowed: readonly string[],
): string {
  const url = targetUrl(provider, path, allowed)
  // Models set unused fields to null.
  if (method !== 'POST' && (body ?? null) !== null)
    throw new GazewayError(
      'validation_failed',
      `body: not allowed with ${method}; omit it, or move its fields into query. No request was made.`,
      { param: 'body' },
    )
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value))
  return url.href.slice(provider.baseUrl.length)
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
  const { model } = fieldsOrNone(body)
  return typeof model === 'string' ? model : null
}
