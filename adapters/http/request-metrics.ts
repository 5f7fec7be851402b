import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { Gauge, type Registry } from 'prom-client'
import type { Frame } from '../web/frame-context.ts'
import { CLIENT_GONE } from '../web/request-log.ts'
import { cached } from './cached.ts'
import { tallyingCounter, tallyingHistogram } from './tallying-metrics.ts'

/** Upper bounds of buckets in seconds, from a reply without a model to a long stream. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Route name of middleware in the router. A request that reached only middleware has an unknown path. */
const MIDDLEWARE = '/*'

/** Counters of requests, with and without the router. */
export interface RequestMetrics {
  /** Counts requests that the router serves. */
  middleware: MiddlewareHandler<Frame>
  /** Counts any other request. Called when it begins, with the pattern of its route. */
  began(pattern: string, incoming: IncomingMessage, outgoing: ServerResponse): void
}

/**
 * Counts requests by route, method and status. A request lasts until its reply is handed over or its client
 * disconnects, so the time of a stream includes the whole stream. The route is the matched pattern, never the requested
 * path. Labels therefore stay few, whatever clients request.
 */
export function requestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry]
  let inFlight = 0
  new Gauge({
    name: 'gazeway_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
    collect() {
      this.set(inFlight)
    },
  })
  const total = tallyingCounter({
    name: 'gazeway_http_requests_total',
    help: 'Completed requests, by matched route, method and status; 499 when the client closed the connection before a reply.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const seconds = tallyingHistogram({
    name: 'gazeway_http_request_duration_seconds',
    help: 'Duration of requests from their headers to the end of the reply, streams included.',
    labelNames: ['route', 'method', 'status_class'],
    buckets: SECONDS,
    registers,
  })

  // Binding labels costs more than counting, so each combination is bound once.
  const countOf = cached((pattern: string) =>
    cached((method: string) =>
      cached((status: number) => {
        const route = routeLabel(pattern)
        const ended = total(route, method, String(status))
        const lasted = seconds(route, method, `${Math.floor(status / 100)}xx`)
        return (durationSeconds: number) => {
          ended.add(1)
          lasted.observe(durationSeconds)
        }
      }),
    ),
  )

  function began(pattern: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const start = performance.now()
    inFlight += 1
    outgoing.on('close', () => {
      inFlight -= 1
      const status = outgoing.headersSent ? outgoing.statusCode : CLIENT_GONE
      countOf(pattern)(incoming.method ?? '')(status)((performance.now() - start) / 1000)
    })
  }
  return {
    began,
    middleware(c, next) {
      began(routePath(c, -1), c.env.incoming, c.env.outgoing)
      return next()
    },
  }
}

/** Formats a pattern for people: `/v1/models/:id` rather than `/v1/models/:id{.+}`. */
const routeLabel = (pattern: string): string =>
  pattern === MIDDLEWARE ? 'unmatched' : pattern.replaceAll(/\{[^}]*\}/g, '')
