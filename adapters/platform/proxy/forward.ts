import type { ServerResponse } from 'node:http'
import type { GazewayError } from '../../../src/errors.ts'
import type { Exchange } from '../../../src/inference/relay/exchange.ts'
import type { PoolRequest, RequestPool } from '../../../src/inference/relay/request-pool.ts'
import { serviceStopping } from '../../../src/wire/stopping.ts'
import type { PaidFor } from '../../web/frame-context.ts'
import { paymentReturned } from '../payments/payment-gate.ts'
import { type RefusedKey, refusedKey } from '../refused-key.ts'
import { noReply } from './no-reply.ts'
import { type PassedEvents, watchEvents } from './passed-events.ts'
import { replyHeaders } from './proxy-headers.ts'

interface Forwarding {
  requestId: string
  /** Timeout of a client that stops reading, in milliseconds. */
  stallMs: number
  /** Aborted when the service ends pending work. */
  stopping: AbortSignal
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
  { requestId, stallMs, stopping, paid, isOwn, token }: Forwarding,
): Promise<Error | null> {
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined
    let events: PassedEvents | null = null
    let refused: RefusedKey | null = null
    let stalled: NodeJS.Timeout | undefined
    let over = false

    function settle(error: GazewayError | null): void {
      over = true
      clearTimeout(stalled)
      stopping.removeEventListener('abort', stop)
      resolve(error ?? events?.reported() ?? null)
    }
    const gone = () => {
      if (!outgoing.writableFinished) exchange?.abort()
      settle(null)
    }
    const resume = () => {
      clearTimeout(stalled)
      exchange?.resume()
    }
    function fail(error: Error): void {
      if (!outgoing.headersSent && !outgoing.destroyed) reject(noReply(error))
      // Too late for another status. Ending the connection shows the client that the reply is incomplete.
      else outgoing.destroy(error)
      settle(null)
    }
    /** Continues once the store confirms that the payment is valid. Otherwise ends the answer. */
    function whenConfirmed(asked: Promise<boolean>, work: () => void): void {
      asked.then(
        (stands) => {
          if (over) return
          if (stands) work()
          else giveUp(paymentReturned())
        },
        (error: Error) => {
          if (!over) giveUp(error)
        },
      )
    }
    function giveUp(error: Error): void {
      // Fails first, so that the abort below is not reported as the cause.
      fail(error)
      exchange?.abort()
    }
    /**
     * Leaves the request to end with its pool. The gateway of this process then reports its own end, not one by its
     * client.
     */
    function stop(): void {
      const error = serviceStopping()
      const event = outgoing.headersSent ? events?.errorEvent(error) : undefined
      if (!event) return void fail(error)
      outgoing.end(event)
      settle(error)
    }
    outgoing.on('close', gone)
    outgoing.on('drain', resume)
    stopping.addEventListener('abort', stop)

    exchange = pool.send(request, {
      onHead(status, headers) {
        if (over) return
        if (status === 401 && !isOwn) {
          refused = refusedKey(token)
          return
        }
        const begin = () => {
          outgoing.writeHead(status, replyHeaders(headers, requestId))
          outgoing.flushHeaders()
          events = watchEvents({ path: request.path, paid: paid !== null }, headers, requestId)
        }
        if (!paid || status >= 400) return begin()
        exchange?.pause()
        whenConfirmed(paid.confirm(), () => {
          begin()
          exchange?.resume()
        })
      },
      onData(chunk) {
        if (over) return
        if (refused) return refused.observe(chunk)
        if (paid && !paid.isHeld()) return giveUp(paymentReturned())
        events?.observe(chunk)
        if (outgoing.write(chunk)) return
        exchange?.pause()
        stalled = setTimeout(() => outgoing.destroy(), stallMs)
      },
      onEnd() {
        if (over) return
        if (refused) return fail(refused.error())
        const end = () => {
          outgoing.end()
          settle(null)
        }
        if (!paid || outgoing.statusCode >= 400 || events?.reported()) end()
        else whenConfirmed(paid.served(), end)
      },
      onError(error) {
        if (!over) fail(error)
      },
    })
    if (outgoing.destroyed) gone()
    else if (stopping.aborted) stop()
  })
}
