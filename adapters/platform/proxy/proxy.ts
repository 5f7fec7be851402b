import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { AgentGatewayTarget } from '../../../src/agent-gateway/target.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { NamingRequest } from '../../../src/inference/admit/named-objects.ts'
import type { OwnObjects } from '../../../src/inference/admit/own-objects.ts'
import { isGeminiPath } from '../../../src/inference/api/gemini-endpoints.ts'
import type { CallAgentGateway } from '../../../src/inference/client/call-agent-gateway.ts'
import { poolSend, type RequestPool } from '../../../src/inference/relay/request-pool.ts'
import type { Replaceable } from '../../../src/inference/relay/succession.ts'
import { PLATFORM_VIA, refuseLoop } from '../../../src/wire/forwarding-loop.ts'
import { type BodyLimit, tooLarge } from '../../web/body-limit.ts'
import { addressOf } from '../../web/client-address.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { ALREADY_SENT } from '../../web/http-receiver.ts'
import { ownKeyOf, ownKeyUnused } from '../../web/own-key.ts'
import { traceparentOf } from '../../web/trace-parent.ts'
import { passModelRequest } from './billed-passage.ts'
import { forward } from './forward.ts'
import { decoded, type ReadPost, readPost } from './model-request.ts'
import { requestHeaders } from './proxy-headers.ts'

/** Passage of `/v1/*` to the agent gateway. */
export interface Passage extends Replaceable {
  /** Forwards a request. @throws GazewayError until the first byte of the reply; a later error ends the connection */
  handle(c: FrameContext): Promise<Response>
}

/** Options of the proxy. */
export interface ProxyOptions {
  target: AgentGatewayTarget
  /** Forwards requests that call a model, and bills their callers. */
  callAgentGateway: CallAgentGateway
  /** Rejects requests that refer to a stored object of another key: the agent gateway has one account for all. */
  objects: OwnObjects
  /** Limits of a request body, read at each request. */
  bodyLimit: (callerId: string) => BodyLimit
  connectTimeoutMs: number
  /** Timeout of a silent agent gateway, and of a client that stops reading. */
  timeoutMs: number
  /** Aborted when the service ends pending work. */
  stopping: AbortSignal
}

/**
 * Forwards requests to the agent gateway: method, path, query and body. Returns the reply as it arrives. Model requests
 * are billed on the way, with two exceptions:
 *
 * - Requests to this process's own gateway, which bills its calls itself.
 * - Requests that are paid for.
 */
export function createProxy(options: ProxyOptions): Passage {
  const { target, callAgentGateway, objects, bodyLimit, connectTimeoutMs, timeoutMs, stopping } = options
  const pool: RequestPool = poolSend({ baseUrl: target.url, timeoutMs }, connectTimeoutMs)
  return {
    async handle(c) {
      const { incoming, outgoing } = c.env
      const path = forwardedPath(c)
      refuseLoop(incoming.headers.via, PLATFORM_VIA)
      const caller = callerOf(c)
      const ownKey = ownKeyOf(incoming)
      if (ownKey !== undefined && !target.isOwn) throw ownKeyUnused('The agent gateway')
      const limit = bodyLimit(caller.id)
      if (Number(incoming.headers['content-length'] ?? 0) > limit.bytes) throw tooLarge(limit)
      const address = addressOf(incoming)
      const pass = target.admit(caller, address)
      const token = pass?.token ?? null
      const requestId = c.get('requestId')
      const traceparent = traceparentOf(incoming)
      const paid = c.get('paid') ?? null
      try {
        const { method = 'GET' } = incoming
        const { url, isOwn } = target
        const post = method === 'POST' && !isOwn && !paid ? await readPost(incoming, { caller, path, limit }) : null
        const read = post?.asksModel ? post.request.bytes : (post?.bytes ?? c.get('body') ?? null)
        if (!isOwn) for (const naming of namingIn(path, post, read)) await objects.requireOwn(naming, caller)
        if (post?.asksModel) {
          const headers = requestHeaders(incoming.headers, {
            caller,
            address,
            token,
            requestId,
            traceparent,
            isRead: true,
          })
          const to = { url, token, timeoutMs, stopping, send: pool.send, callAgentGateway }
          const reported = await passModelRequest(c, { ...post, path, headers }, to)
          if (reported !== null) c.error = reported
          return ALREADY_SENT
        }
        const request = {
          method,
          path,
          headers: requestHeaders(incoming.headers, {
            caller,
            address,
            token,
            ownKey,
            requestId,
            traceparent,
            isRead: paid !== null,
          }),
          body: read ? nullIfEmpty(read) : bodyOf(incoming, limit),
          callerId: caller.id,
        }
        const how = { requestId, stallMs: timeoutMs, isOwn, token, stopping, paid }
        const reported = await forward(pool, request, outgoing, how)
        // The status was sent before, so this error tells whether the request was served.
        if (reported !== null) c.error = reported
        return ALREADY_SENT
      } finally {
        pass?.end()
      }
    },
    watch: pool.watch,
    close: pool.close,
  }
}

/**
 * Returns path and query as sent.
 *
 * @throws GazewayError `forbidden_path` for a path that another server could read as one outside `/v1`
 */
export function pathBelowV1(url: string): string {
  const { pathname, search } = new URL(url)
  const decoded = pathname.replaceAll(/%2f|%5c|\\/gi, '/').replaceAll(/%2e/gi, '.')
  if (pathname === '/v1') throw new GazewayError('not_found', 'There is nothing at /v1; its routes are below it.')
  if (BELOW_V1.test(pathname) && !/\/\.\.?(\/|$)/.test(decoded)) return pathname + search
  throw new GazewayError('forbidden_path', 'The path leads out of /v1. No request was made.', { param: 'path' })
}

/** Paths below `/v1`, and below the other versions of Google's API. */
const BELOW_V1 = /^\/v1(?:beta|alpha)?\//

/** Path and query as sent, without the key of the caller: the query of Google's API may have it. */
function forwardedPath({ req }: FrameContext): string {
  const path = pathBelowV1(req.url)
  if (!isGeminiPath(req.path)) return path
  const [pathname, query = ''] = path.split(/\?(.*)/s)
  const kept = query.split('&').filter((field) => field !== '' && !new URLSearchParams(field).has('key'))
  return kept.length === 0 ? `${pathname}` : `${pathname}?${kept.join('&')}`
}

/** Path and body of a request to the agent gateway, both of which can name objects. */
function namingIn(path: string, post: ReadPost | null, body: Buffer | null): NamingRequest[] {
  const segments = path.split(/[/?&=;]/).map(decoded)
  return [
    { endpoint: '/responses', text: JSON.stringify(segments) },
    { endpoint: post?.asksModel ? post.endpoint : '/responses', text: body?.toString('utf8') ?? '' },
  ]
}

const nullIfEmpty = (body: Buffer): Buffer | null => (body.length === 0 ? null : body)

/** Streams a request's body and enforces its limit. Null without a body. */
function bodyOf(incoming: IncomingMessage, limit: BodyLimit): Transform | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers
  if (encoding === undefined && (length === undefined || length === '0')) return null
  let size = 0
  const limited = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      if (size > limit.bytes) done(tooLarge(limit))
      else done(null, chunk)
    },
  })
  incoming.once('error', (error) => limited.destroy(error))
  // Discards the rest of a body that nobody reads, so that the connection stays open for the reply.
  limited.once('close', () => incoming.unpipe(limited).resume())
  return incoming.pipe(limited)
}
