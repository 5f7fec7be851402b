import type { ServerResponse } from 'node:http'
import type { GazewayError } from '../../../src/errors.ts'
import type { PoolRequest, RequestPool } from '../../../src/inference/relay/request-pool.ts'
import type { Exchange } from '../../../src/inference/relay/send.ts'
import { serviceStopping } from '../../../src/wire/stopping.ts'
import type { PaidFor } from '../../web/frame.ts'
import { givenBack } from '../payments/payment-gate.ts'
import { type RefusedKey, refusedKey } from '../refused-key.ts'
import { noReply } from './no-reply.ts'
import { type PassedEvents, watchEvents } from './passed-events.ts'
import { replyHeaders } from './proxy-headers.ts'

/** Options of a forwarded request. */
interface Forwarding {
  requestId: string
  /** Timeout of a client that stops reading, in milliseconds. */
  stallMs: number
  /** The agent gateway, for those who read errors. */
  url: string
  /** Aborted when the service ends what is still in progress. */
  stopping: AbortSignal
  /** Set where the request was paid for: an error in a stream of events must be found, and no answer be given in vain. */
  paid: PaidFor | null
  /** True for this process's own gateway, which callers enter under their own identity. */
  isOwn: boolean
  /** Bearer token; null for none. */
  token: string | null
}

/**
 * Sends a request and writes its reply to a client as it arrives, at the client's pace. A client that goes away, or
 * leaves its reply unread for `stallMs`, ends the request. A stream of events that is cut off as the service stops ends
 * with an error in it.
 *
 * @returns when the reply is over, whole or not: the error that it told its client of, whether the client then stayed or not
 * @throws GazewayError `upstream_unreachable`, `upstream_timeout`, `upstream_error` where it refuses the platform's key,
 *   `service_stopping` or what the request's body failed with, as long as nothing was written
 */
export function forward(
  pool: RequestPool,
  request: PoolRequest,
  outgoing: ServerResponse,
  { requestId, stallMs, url, stopping, paid, isOwn, token }: Forwarding,
): Promise<Error | null> {
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined
    let events: PassedEvents | null = null
    let refused: RefusedKey | null = null
    let stalled: NodeJS.Timeout | undefined
    let over = false

    function settle(told: GazewayError | null): void {
      over = true
      clearTimeout(stalled)
      stopping.removeEventListener('abort', stop)
      resolve(told ?? events?.reported() ?? null)
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
      if (!outgoing.headersSent && !outgoing.destroyed) reject(noReply(error, url))
      // Too late for another status: the client sees that the reply is not whole.
      else outgoing.destroy(error)
      settle(null)
    }
    /** Goes on once the store has said that the payment stands; else nothing more is answered. */
    function whenTrue(asked: Promise<boolean>, work: () => void): void {
      asked.then(
        (stands) => {
          if (over) return
          if (stands) work()
          else giveUp(givenBack())
        },
        (error: Error) => {
          if (!over) giveUp(error)
        },
      )
    }
    function giveUp(error: Error): void {
      // Told first: what ends the exchange is no fault of its own.
      fail(error)
      exchange?.abort()
    }
    /** The request is left to end with its pool: the gateway of this process tells its own end, which is not its client's. */
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
        whenTrue(paid.confirm(), () => {
          begin()
          exchange?.resume()
        })
      },
      onData(chunk) {
        if (over) return
        if (refused) return refused.saw(chunk)
        if (paid && !paid.isHeld()) return giveUp(givenBack())
        events?.saw(chunk)
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
        else whenTrue(paid.served(), end)
      },
      onError(error) {
        if (!over) fail(error)
      },
    })
    if (outgoing.destroyed) gone()
    else if (stopping.aborted) stop()
  })
}
