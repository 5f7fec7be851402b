import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Frame } from '../web/frame-context.ts'
import { onReplyClosed } from '../web/reply-closed.ts'
import { CLIENT_GONE } from '../web/request-log.ts'
import { cached } from './cached.ts'
import type { Meters } from './meters.ts'

/** Route name of middleware in the router. A request that reached only middleware has an unknown path. */
const MIDDLEWARE = '/*'

/** Service that a request arrives at: the gateway on 8811, or the platform on 8812. */
export type Service = 'gateway' | 'platform'

/** Counters of the requests of one service, with and without the router. */
export interface RequestMetrics {
  /** Counts requests that the router serves. */
  middleware: MiddlewareHandler<Frame>
  /** Counts any other request. Called when it begins, with the pattern of its route. */
  began(pattern: string, incoming: IncomingMessage, outgoing: ServerResponse): void
}

/** Called with each request when it begins, and the label of its route. */
export type OnRequest = (route: string, incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * Counts requests by service, route, method and status. A request lasts until its reply is handed over or its client
 * disconnects, so the time of a stream includes the whole stream. The route is the matched pattern, never the requested
 * path. Labels therefore stay few, whatever clients request.
 *
 * @param onRequest the listener of the moment; null for none
 */
export function requestMetrics(
  meters: Meters,
  onRequest: () => OnRequest | null,
): (service: Service) => RequestMetrics {
  let inFlight = 0
  meters.gauge('gazeway_http_requests_in_flight', () => [[inFlight]])
  const total = meters.counter('gazeway_http_requests_total')
  const seconds = meters.histogram('gazeway_http_request_duration_seconds')

  return (service) => {
    // Binding labels costs more than counting, so each combination is bound once.
    const ofRoute = cached((pattern: string) => {
      const route = routeLabel(pattern)
      return {
        route,
        count: cached((method: string) =>
          cached((status: number) => {
            const ended = total(service, route, method, String(status))
            const lasted = seconds(service, route, method, `${Math.floor(status / 100)}xx`)
            return (durationSeconds: number) => {
              ended.add(1)
              lasted.observe(durationSeconds)
            }
          }),
        ),
      }
    })

    function began(pattern: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
      const start = performance.now()
      inFlight += 1
      onReplyClosed(outgoing, () => {
        inFlight -= 1
        const count = ofRoute(pattern).count(incoming.method ?? '')(statusOf(outgoing))
        count((performance.now() - start) / 1000)
      })
      onRequest()?.(ofRoute(pattern).route, incoming, outgoing)
    }
    return {
      began,
      middleware(c, next) {
        began(routePath(c, -1), c.env.incoming, c.env.outgoing)
        return next()
      },
    }
  }
}

/** Status of a reply that has ended. */
const statusOf = (outgoing: ServerResponse): number => (outgoing.headersSent ? outgoing.statusCode : CLIENT_GONE)

/** Formats a pattern for people: `/v1/models/:id` rather than `/v1/models/:id{.+}`. */
const routeLabel = (pattern: string): string =>
  pattern === MIDDLEWARE ? 'unmatched' : pattern.replaceAll(/\{[^}]*\}/g, '')
