import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { errors } from 'undici'
import { GazewayError } from '../../errors.ts'
import { createFairShares } from '../../wire/fair-shares.ts'
import { watchSilence } from '../../wire/idle-watch.ts'
import { serviceStopping } from '../../wire/service-stopping.ts'
import type { Provider } from '../upstreams/provider.ts'
import { CONNECTIONS, connectionsTo } from './connections.ts'
import type { Exchange, RelayRequest, ReplyListener } from './exchange.ts'
import { CLIENT_GONE } from './send.ts'
import type { Replaceable } from './succession.ts'

/** A request over a pool. */
export interface PoolRequest extends Omit<RelayRequest, 'body'> {
  /** A stream is read as fast as the server accepts it. */
  body: string | Buffer | Readable | null
}

/** Sends requests to one server. */
export interface RequestPool extends Replaceable {
  send(request: PoolRequest, listener: ReplyListener): Exchange
  /** Ends requests in flight with `service_stopping` and closes the connections. Later requests end likewise. */
  close(): Promise<void>
}

/** Creates a pool of kept-alive connections over undici's dispatch, which has far less overhead than `fetch`. */
export function poolSend(
  {
    baseUrl,
    timeoutMs,
    firstByteMs = timeoutMs,
    proxy: configured = null,
  }: Pick<Provider, 'baseUrl' | 'timeoutMs'> & Partial<Pick<Provider, 'firstByteMs' | 'proxy'>>,
  connectTimeoutMs: number,
): RequestPool {
  const base = new URL(baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  const pool = connectionsTo(base, configured, connectTimeoutMs)
  const silence = watchSilence(timeoutMs)
  const firstByte = firstByteMs === timeoutMs ? silence : watchSilence(firstByteMs)
  // Each connection carries one request at a time.
  const shares = createFairShares(CONNECTIONS)
  let underWay = 0
  let onBusyChange: (busy: boolean) => void = () => {}
  return {
    send({ method, path, headers, body, callerId = null }, listener) {
      let controller: Dispatcher.DispatchController | undefined
      let given: Error | undefined
      let over = false
      if (underWay++ === 0) onBusyChange(true)
      // undici clears ended timers only twice a second; under load they would hold a large part of all memory. Its own
      // limit is used only for a streamed body, since only undici knows how far it was sent.
      const watched = body === null || typeof body === 'string' || Buffer.isBuffer(body)
      const limit = watched ? 0 : timeoutMs
      let watch = firstByte
      let wait = watched ? watch.begin(giveUp) : null
      let begun = false
      const { origin } = base
      const options = { origin, method, path: prefix + path, headers, body, headersTimeout: limit, bodyTimeout: limit }
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          controller = started
          if (given) return started.abort(given)
          listener.onConnected?.()
          heard()
        },
        onResponseStart(_, status, head) {
          heard()
          // 1xx responses come before the final one.
          if (status < 200) return
          begun = true
          if (wait && watch !== silence) {
            watch.end(wait)
            watch = silence
            wait = watch.begin(giveUp)
          }
          listener.onHead(status, head)
        },
        onResponseData(_, chunk) {
          heard()
          listener.onData(chunk)
        },
        onResponseEnd() {
          settle()
          listener.onEnd()
        },
        onResponseError: (_, error) =>
          fail(error instanceof errors.ClientDestroyedError ? serviceStopping(error) : error),
      }
      const place = shares.take(callerId, () => void (over || pool.dispatch(options, handler)))
      function heard(): void {
        if (wait) watch.heard(wait)
      }
      function settle(): void {
        over = true
        place.end()
        if (--underWay === 0) onBusyChange(false)
        if (wait) watch.end(wait)
      }
      function fail(error: Error): void {
        if (over) return
        settle()
        listener.onError(error)
      }
      function end(reason: Error): void {
        if (over || given) return
        given = reason
        if (controller) controller.abort(reason)
        // Not sent yet: undici reports nothing until it is connected.
        else fail(reason)
      }
      function giveUp(): void {
        if (controller?.paused) heard()
        else if (place.isWaiting()) end(tooMany(base, firstByteMs))
        else end(begun ? new errors.BodyTimeoutError() : new errors.HeadersTimeoutError())
      }
      return {
        pause: () => controller?.pause(),
        resume() {
          heard()
          controller?.resume()
        },
        abort: () => end(CLIENT_GONE),
      }
    },
    watch(listener) {
      onBusyChange = listener
    },
    close: () => pool.destroy(),
  }
}

const tooMany = ({ origin }: URL, timeoutMs: number): GazewayError =>
  new GazewayError(
    'too_many_requests',
    `Your requests in progress took your share of the ${CONNECTIONS} connections of Gazeway to ${origin} for ${timeoutMs / 1000} s, and this one was not sent. Send fewer requests at once, and retry.`,
    { retryAfterSeconds: 1 },
  )
