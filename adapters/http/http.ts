import { Hono } from 'hono'
import type { Gateway } from '../../src/gateway.ts'
import type { Passes } from '../../src/identity/passes.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import { lazily } from '../../src/lazily.ts'
import { type Metrics, openMetrics } from '../metrics/metrics.ts'
import type { OpenApi } from '../platform/openapi.ts'
import { registerRoutes } from '../platform/register-routes.ts'
import { codingSessionRoutes } from '../platform/routes/coding-sessions-routes.ts'
import { arrivalOf, type Endpoint } from '../web/arrival.ts'
import { documentRoutes, isDocument } from '../web/documents.ts'
import { errorHandler, notFound, refuseOtherMethods } from '../web/error-handler.ts'
import { errorPages, isErrorPage } from '../web/error-pages.ts'
import { fastLane } from '../web/fast-lane.ts'
import { frame } from '../web/frame.ts'
import type { Frame, FrameContext } from '../web/frame-context.ts'
import { hello, isHello } from '../web/hello.ts'
import { ALREADY_SENT } from '../web/http-receiver.ts'
import { liveClientAddresses, liveHostRules, liveRateLimit } from '../web/live-rules.ts'
import { isOwnCollector } from '../web/own-collector.ts'
import { probes } from '../web/probes.ts'
import { createReadiness, type Readiness } from '../web/readiness.ts'
import { refusedCalls } from '../web/refused-calls.ts'
import { type Listening, serve } from '../web/serve.ts'
import { MODEL_ENDPOINTS } from './endpoints.ts'
import { createResponsesSocket } from './responses-socket/responses-socket.ts'
import { memoryRoutes } from './routes/gateway-memory-routes.ts'
import { geminiRoutes } from './routes/gemini-routes.ts'
import { health } from './routes/health-route.ts'
import { keptResponsesRoutes } from './routes/kept-responses-routes.ts'
import { modelRoutes } from './routes/models-routes.ts'
import { verbatimPathRoutes } from './routes/verbatim-path-routes.ts'

const loadDescription = lazily(() => import('./describe-gateway.ts'))

/**
 * Serves the gateway over HTTP, an OpenAI-compatible API, until it is stopped.
 *
 * @param passes let another service of this process call on behalf of its callers
 * @param readiness that of the process; ready by default
 * @param metrics those of the process; of this service alone by default
 * @throws GazewayError `conflict` when the port is taken
 */
export async function serveHttp(
  gateway: Gateway,
  passes?: Passes,
  readiness = createReadiness(gateway.store, 'ready'),
  metrics = openMetrics(gateway, readiness),
): Promise<Listening> {
  const { http } = gateway.loaded.config
  const calls = await gateway.upstream.openCalls()
  const requests = metrics.requests('gateway')
  const keys = passes?.beside(gateway.keys) ?? gateway.keys
  const hosts = liveHostRules(gateway)
  const endpoints = Object.fromEntries(
    Object.entries(MODEL_ENDPOINTS).map(([path, { serve }]) => [path, serve(calls, gateway)]),
  )
  const app = new Hono<Frame>({ strict: false })
  const refused = refusedCalls(gateway, 'http')
  app.onError(errorHandler(gateway.log, refused))
  app.notFound(notFound)
  app.use(requests.middleware, frame({ keys, scope: 'inference', hosts, open: isOpen }))
  const { limit, count } = liveRateLimit(gateway)
  app.use(limit)

  routesOf(app, gateway, { calls, endpoints, readiness, metrics })

  const lane = fastLane({
    endpoints,
    keys,
    scope: 'inference',
    hosts,
    unlimited: () => gateway.loaded.config.http.rate_limit.requests_per_minute === null,
    began: requests.began,
    log: gateway.log,
    refused,
  })
  const socket = createResponsesSocket(gateway, { calls, keys, hosts, count, refused })
  metrics.countSockets('responses', socket.open)
  const listening = await serve(app, {
    lane,
    onUpgrade: socket.upgrade,
    log: gateway.log,
    buffered: gateway.buffered,
    host: http.host,
    port: http.port,
    flag: '--port',
    headerTimeoutMs: http.header_timeout_ms,
    requestTimeoutMs: http.request_timeout_ms,
    keepAliveMs: http.keep_alive_ms,
    drainMs: () => gateway.loaded.config.http.drain_ms,
    isDraining: readiness.isDraining,
    addresses: liveClientAddresses(gateway),
    onDeadline: () => void calls.close(),
  })
  return {
    url: listening.url,
    async stop() {
      socket.stop()
      await listening.stop()
      await calls.close()
    },
  }
}

/** Registers the routes of the service. */
function routesOf(
  app: Hono<Frame>,
  gateway: Gateway,
  {
    calls,
    endpoints,
    readiness,
    metrics,
  }: { calls: OpenCalls; endpoints: Readonly<Record<string, Endpoint>>; readiness: Readiness; metrics: Metrics },
): void {
  probes(app, readiness)
  hello(app, { root: true })
  app.get('/health', health(gateway))
  app.get('/metrics', metrics.expose)
  errorPages(app)
  documentRoutes(app, { isPlatform: false })
  for (const [path, endpoint] of Object.entries(endpoints))
    app.post(path, async (c) => {
      await endpoint(arrivalOf(c))
      return ALREADY_SENT
    })
  keptResponsesRoutes(app, gateway)
  verbatimPathRoutes(app, calls, gateway)
  geminiRoutes(app, calls, gateway)
  modelRoutes(app, gateway)
  memoryRoutes(app, gateway)
  const shared = codingSessionRoutes(gateway)
  registerRoutes(app, { gateway, routes: shared, limit: null })
  let described: OpenApi | undefined
  app.get('/openapi.json', async (c) => {
    described ??= (await loadDescription()).describeGateway(shared)
    return c.json(described)
  })
  refuseOtherMethods(app)
}

/** Tells whether a request needs no key. */
const isOpen = (c: FrameContext): boolean =>
  isErrorPage(c.req.path) ||
  isDocument(c.req.path) ||
  isHello(c) ||
  (c.req.path === '/metrics' && isOwnCollector(c.env.incoming))
