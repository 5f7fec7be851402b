import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { Idempotency } from '../../src/idempotency/idempotency.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import type { Arrival } from '../web/arrival.ts'
import { capture } from '../web/captured-reply.ts'
import { receiverOf } from '../web/http-receiver.ts'
import { ownKeyOf } from '../web/own-key.ts'

/** Headers of a stored reply that are also valid for its replay. Limits and times are not. */
const REPLAYED_HEADERS = ['content-type', 'x-gazeway-call-id', 'x-gazeway-route', 'x-gazeway-upstream']

/**
 * Relays a model call to its client. With an `Idempotency-Key`, only one request goes to the upstream: the same key and
 * body get the first reply again.
 *
 * @param request.path path of the endpoint, with the part of the query that goes to the upstream
 * @param request.text body as sent by the client
 * @param relay sends the request to the upstream, and its reply to the receiver
 * @throws GazewayError as `relay` and `createIdempotency`; `validation_failed` for a stream with a key
 */
export function relayOnce(
  arrival: Arrival,
  { idempotency, upstream }: Gateway,
  request: { path: string; text: string; stream: boolean },
  relay: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const client = receiverOf(arrival, upstream.provider.timeoutMs)
  const { incoming, callerId, requestId } = arrival
  const key = incoming.headers['idempotency-key']
  if (typeof key !== 'string') return relay(client)
  const isOwn = ownKeyOf(incoming) !== undefined
  return relayUnderKey({ key, scope: callerId ?? 'anonymous', requestId, isOwn }, idempotency, request, client, relay)
}

async function relayUnderKey(
  { isOwn, ...asked }: { key: string; scope: string; requestId: string; isOwn: boolean },
  idempotency: Idempotency,
  { path, text, stream }: { path: string; text: string; stream: boolean },
  client: Receiver,
  relay: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  if (stream) throw cannotRepeat()
  const { receiver, reply: captured } = capture(client)
  const request = { ...asked, route: `POST ${path}`, body: text }
  const { reply, replayed } = await idempotency.run(request, async () => {
    await relay(receiver)
    const whole = captured()
    if (whole === null) throw new GazewayError('cancelled', 'The client disconnected.')
    const { status, headers } = whole
    const replayable = Object.entries(headers).filter(([name]) => REPLAYED_HEADERS.includes(name))
    // A refusal of the client's own account may be mended by another credential.
    const isTransient = status >= 400 && (isOwn || 'retry-after' in headers || 'retry-after-ms' in headers)
    return { status, headers: Object.fromEntries(replayable), body: whole.body.toString('utf8'), isTransient }
  })
  const own = replayed ? undefined : captured()?.headers
  const repeated = { 'content-type': 'application/json', ...reply.headers, 'idempotent-replayed': 'true' }
  client.whole(reply.status, own ?? repeated, reply.body)
}

/** Error for a stream with an `Idempotency-Key`. */
export const cannotRepeat = (): GazewayError =>
  new GazewayError(
    'validation_failed',
    'Idempotency-Key: streams cannot be replayed; omit the header, or send stream: false.',
    { param: 'Idempotency-Key' },
  )
