import type { ServerResponse } from 'node:http'
import type { GazewayError } from '../../../src/errors.ts'
import type { Exchange, Headers } from '../../../src/inference/relay/exchange.ts'
import { serviceStopping } from '../../../src/wire/service-stopping.ts'
import { lateReply } from './late-reply.ts'
import { noReply } from './no-reply.ts'
import { type PassedEvents, watchEvents } from './passed-events.ts'
import { replyHeaders } from './proxy-headers.ts'

/** Delivery of a reply to its client. */
export interface Delivery {
  /** False once the reply is complete or has failed. */
  isOpen(): boolean
  /** Sends the head of the reply. */
  begin(status: number, headers: Headers): void
  /** Sends a part of the reply, at the client's pace. */
  write(chunk: Buffer): void
  end(): void
  /** Error that an event stream has reported to its client. */
  reported(): Error | null
  fail(error: Error): void
  /** Fails, and aborts the exchange. */
  giveUp(error: Error): void
  /** Ties the delivery to the exchange that its reply comes from. */
  comesFrom(exchange: Exchange): void
}

/** Options of {@link createDelivery}. */
export interface DeliveryOptions {
  requestId: string
  /** Timeout of a client that stops reading, in milliseconds. */
  stallMs: number
  /** Aborted when the service ends pending work. */
  stopping: AbortSignal
}

/**
 * Opens the delivery of a reply to `outgoing`.
 *
 * @param options.path path of the request
 * @param options.paid whether the request is paid for
 * @param done settled at the end: with the error that the reply reported to its client, or null; rejected as long as
 *   nothing was written
 */
export function createDelivery(
  outgoing: ServerResponse,
  { requestId, stallMs, stopping, ...request }: DeliveryOptions & { path: string; paid: boolean },
  done: { resolve: (reported: Error | null) => void; reject: (error: Error) => void },
): Delivery {
  let exchange: Exchange | undefined
  let events: PassedEvents | null = null
  /** The rest of a stream that has begun before its reply. Null for any other. */
  const late = outgoing.headersSent ? lateReply(request.path, requestId) : null
  let isOpen = true
  const pace = clientPace(outgoing, stallMs, () => exchange)

  function settle(error: GazewayError | null): void {
    isOpen = false
    pace.stop()
    stopping.removeEventListener('abort', stop)
    done.resolve(error ?? late?.reported() ?? events?.reported() ?? null)
  }
  const gone = () => {
    if (!outgoing.writableFinished) exchange?.abort()
    settle(null)
  }
  function fail(error: Error): void {
    if (!outgoing.headersSent && !outgoing.destroyed) done.reject(noReply(error))
    else if (late !== null && events === null) outgoing.end(late.fail(noReply(error)))
    // Too late for another status. Ending the connection shows the client that the reply is incomplete.
    else outgoing.destroy(error)
    settle(null)
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
  stopping.addEventListener('abort', stop)

  return {
    isOpen: () => isOpen,
    begin(status, headers) {
      if (late?.isWhole(status, headers)) return
      events = watchEvents(request, headers, requestId)
      if (late !== null) return
      outgoing.writeHead(status, replyHeaders(headers, requestId))
      outgoing.flushHeaders()
    },
    write(chunk) {
      try {
        if (late?.take(chunk)) return
      } catch (error) {
        return giveUp(error as Error)
      }
      events?.observe(chunk)
      pace.write(chunk)
    },
    end() {
      outgoing.end(late?.end())
      settle(null)
    },
    reported: () => late?.reported() ?? events?.reported() ?? null,
    fail,
    giveUp,
    comesFrom(from) {
      exchange = from
      if (outgoing.destroyed) gone()
      else if (stopping.aborted) stop()
    },
  }
}

/** Writes at the client's pace: pauses the exchange meanwhile, and disconnects a client that has stopped reading. */
function clientPace(outgoing: ServerResponse, stallMs: number, exchange: () => Exchange | undefined) {
  let stalled: NodeJS.Timeout | undefined
  outgoing.on('drain', () => {
    clearTimeout(stalled)
    exchange()?.resume()
  })
  return {
    write(chunk: Buffer): void {
      if (outgoing.write(chunk)) return
      exchange()?.pause()
      stalled = setTimeout(() => outgoing.destroy(), stallMs)
    },
    stop: () => clearTimeout(stalled),
  }
}
