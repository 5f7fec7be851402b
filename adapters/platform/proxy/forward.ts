import type { ServerResponse } from 'node:http'
import type { Exchange } from '../../../src/inference/relay/exchange.ts'
import type { PoolRequest, RequestPool } from '../../../src/inference/relay/request-pool.ts'
import type { PaidFor } from '../../web/frame-context.ts'
import { paymentReturned } from '../payments/payment-gate.ts'
import { type RefusedKey, refusedKey } from '../refused-key.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery.ts'

interface Forwarding extends DeliveryOptions {
  /** Set for a paid request: an error in an event stream must be found, and an unpaid answer must not be sent. */
  paid: PaidFor | null
  /** True for this process's own gateway, which callers enter under their own identity. */
  isOwn: boolean
  /** Bearer token; null for none. */
  token: string | null
}

/**
 * Sends a request, and writes its reply to the client as it arrives, at the client's pace. Ends the request when the
 * client disconnects, or leaves its reply unread for `stallMs`. An event stream that is cut off at shutdown ends with
 * an error event.
 *
 * @returns at the end of the reply, complete or not: the error that it reported to its client, even if the client has
 *   left
 * @throws GazewayError `upstream_unreachable`, `upstream_timeout`, `upstream_error` when the agent gateway refuses the
 *   platform's key, `service_stopping` or the error of the request's body, as long as nothing was written
 */
export function forward(
  pool: RequestPool,
  request: PoolRequest,
  outgoing: ServerResponse,
  { paid, isOwn, token, ...options }: Forwarding,
): Promise<Error | null> {
  return new Promise((resolve, reject) => {
    const about = { ...options, path: request.path, paid: paid !== null }
    const reply = createDelivery(outgoing, about, { resolve, reject })
    let refused: RefusedKey | null = null
    let exchange: Exchange | undefined

    exchange = pool.send(request, {
      onHead(status, headers) {
        if (!reply.isOpen()) return
        if (status === 401 && !isOwn) {
          refused = refusedKey(token)
          return
        }
        if (!paid || status >= 400) return reply.begin(status, headers)
        exchange?.pause()
        whenConfirmed(reply, paid.confirm(), () => {
          reply.begin(status, headers)
          exchange?.resume()
        })
      },
      onData(chunk) {
        if (!reply.isOpen()) return
        if (refused) refused.observe(chunk)
        else if (paid && !paid.isHeld()) reply.giveUp(paymentReturned())
        else reply.write(chunk)
      },
      onEnd() {
        if (!reply.isOpen()) return
        if (refused) reply.fail(refused.error())
        else if (!paid || outgoing.statusCode >= 400 || reply.reported()) reply.end()
        else whenConfirmed(reply, paid.served(), reply.end)
      },
      onError(error) {
        if (reply.isOpen()) reply.fail(error)
      },
    })
    reply.comesFrom(exchange)
  })
}

/** Continues once the store confirms that the payment is valid. Otherwise gives the reply up. */
function whenConfirmed(reply: Delivery, asked: Promise<boolean>, work: () => void): void {
  asked.then(
    (stands) => {
      if (!reply.isOpen()) return
      if (stands) work()
      else reply.giveUp(paymentReturned())
    },
    (error: Error) => {
      if (reply.isOpen()) reply.giveUp(error)
    },
  )
}
