import { tagsIn } from '../../../src/calls/call-tags.ts'
import type { GazewayError } from '../../../src/errors.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import type { CallAgentGateway } from '../../../src/inference/client/call-agent-gateway.ts'
import type { Headers, Send } from '../../../src/inference/relay/exchange.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import type { RequestPool } from '../../../src/inference/relay/request-pool.ts'
import { sessionOf } from '../../../src/inference/session/session.ts'
import { turnMetadataOf } from '../../../src/inference/session/turn-metadata.ts'
import { createProvider } from '../../../src/inference/upstreams/create-provider.ts'
import { serviceStopping } from '../../../src/wire/service-stopping.ts'
import { arrivalOf } from '../../web/arrival.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { receiverOf } from '../../web/http-receiver.ts'
import { traceparentOf } from '../../web/trace-parent.ts'
import { refusedKey } from '../refused-key.ts'
import { noReply } from './no-reply.ts'
import { replyHeaders } from './proxy-headers.ts'

/** Request to a model of the agent gateway. */
interface Asked {
  endpoint: string
  request: ClientRequest<ModelBody>
  /** Path as sent, with its query. */
  path: string
  headers: Record<string, string>
}

/** Address of the agent gateway, and the means to send to it. */
interface Way {
  url: string
  /** Bearer token; null for none. */
  token: string | null
  /** Timeout of a silent upstream, and of a client that stops reading. */
  timeoutMs: number
  /** Aborted when the service ends pending work. */
  stopping: AbortSignal
  send: RequestPool['send']
  callAgentGateway: CallAgentGateway
}

/**
 * Passes a model request to the agent gateway, and bills its caller.
 *
 * @returns the error that the reply reported to its client; null for none
 * @throws GazewayError as `CallAgentGateway`; `upstream_error` when the agent gateway refuses the platform's key
 */
export function passModelRequest(c: FrameContext, asked: Asked, way: Way): Promise<Error | null> {
  const { token, timeoutMs, callAgentGateway } = way
  const arrival = arrivalOf(c)
  const { requestId, callerId, address, incoming } = arrival
  const { 'content-length': _, ...headers } = asked.headers
  const passedOn = {
    ...asked,
    service: serviceAt(way),
    headers: { ...headers, 'accept-encoding': 'identity' },
    send: sendUntilStop(way),
    replyHeaders: (of: Headers) => joined(replyHeaders(of, requestId)),
    failure: (error: unknown) => noReply(error as Error),
    refusal: ({ status, body }: { status: number; body: Buffer }) => (status === 401 ? refusalOf(token, body) : null),
  }
  const { via } = incoming.headers
  const context = {
    surface: 'platform' as const,
    callerId,
    address,
    requestId,
    via,
    session: sessionOf(incoming.headers, asked.request.json),
    tags: tagsIn(incoming.headers['x-gazeway-tags']),
    turnMetadata: turnMetadataOf(incoming.headers, asked.request.json),
    traceparent: traceparentOf(incoming),
  }
  return callAgentGateway(passedOn, receiverOf(arrival, timeoutMs), context)
}

/** The agent gateway as a provider, for records and errors. */
const serviceAt = ({ url, token, timeoutMs }: Way) =>
  createProvider({
    provider: `${url}/v1`,
    api_key: token,
    headers: {},
    aliases: {},
    models: { primary: '', fallback: '', chat: '' },
    timeout_ms: timeoutMs,
    max_retries: 0,
  })

function refusalOf(token: string | null, body: Buffer): GazewayError {
  const refused = refusedKey(token)
  refused.observe(body)
  return refused.error()
}

/** Sends through the pool. At shutdown, pending requests end with a reason for their clients. */
const sendUntilStop =
  ({ send, stopping }: Way): Send =>
  (request, listener) => {
    const stop = () => {
      listener.onError(serviceStopping())
      exchange.abort()
    }
    const release = () => stopping.removeEventListener('abort', stop)
    const exchange = send(request, {
      onHead: (status, headers) => listener.onHead(status, headers),
      onData: (chunk) => listener.onData(chunk),
      onEnd() {
        release()
        listener.onEnd()
      },
      onError(error) {
        release()
        listener.onError(error)
      },
    })
    stopping.addEventListener('abort', stop)
    return exchange
  }

const joined = (headers: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
