import { Hono, type MiddlewareHandler } from 'hono'
import type { AgentGatewayTarget } from '../../src/agent-gateway/target.ts'
import type { Gateway } from '../../src/gateway.ts'
import { OWN_VERSIONS } from '../../src/inference/api/gemini-endpoints.ts'
import { watchHeartbeats } from '../../src/inference/relay/heartbeats.ts'
import { consoleRoutes, isConsolePath } from '../console/routes.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { documentRoutes, isDocument } from '../web/documents.ts'
import { errorHandler, notFound, refuseOtherMethods } from '../web/error-handler.ts'
import { errorPages, isErrorPage } from '../web/error-pages.ts'
import { frame } from '../web/frame.ts'
import type { Frame } from '../web/frame-context.ts'
import { hello, isHello } from '../web/hello.ts'
import type { HostRules } from '../web/hosts.ts'
import { isOwnCollector } from '../web/own-collector.ts'
import { probes } from '../web/probes.ts'
import type { Readiness } from '../web/readiness.ts'
import { refusedCalls } from '../web/refused-calls.ts'
import { keyHolder } from './caller.ts'
import type { GroupedRoute } from './define-route.ts'
import type { KeylessPayments } from './payments/open-payments.ts'
import { checkPaidRequest } from './payments/paid-request.ts'
import { paymentGate } from './payments/payment-gate.ts'
import type { Passage } from './proxy/proxy.ts'
import { inferencePaths, registerRoutes } from './register-routes.ts'
import { codingSessionRoutes } from './routes/coding-sessions-routes.ts'
import { DESCRIPTIONS, docsRoutes } from './routes/docs-routes.ts'

/** Parts of the platform's app besides the gateway's services. */
export interface PlatformAppDeps {
  routes: readonly GroupedRoute[]
  hosts: HostRules
  readiness: Readiness
  metrics: Pick<Metrics, 'requests' | 'expose'>
  agentGateway: AgentGatewayTarget
  payments: KeylessPayments | null
  proxy: Pick<Passage, 'handle'>
  /** Counts a request of a key. */
  limit: MiddlewareHandler<Frame>
  /** Folder of the built console; beside this program by default. */
  consoleFolder: string | undefined
}

/** Creates the app: the routes of the platform, the console, and `/v1`, which is forwarded. */
export function createPlatformApp(gateway: Gateway, deps: PlatformAppDeps): Hono<Frame> {
  const { routes, hosts, readiness, metrics, agentGateway, payments, proxy, limit, consoleFolder } = deps
  const withoutKey = new Set([
    ...Object.values(DESCRIPTIONS),
    '/docs',
    ...routes.filter(({ access }) => access === 'open' || access === 'caller').map(({ path }) => path),
  ])

  const isForInference = inferencePaths(routes)

  const app = new Hono<Frame>({ strict: false })
  app.onError(errorHandler(gateway.log, refusedCalls(gateway, 'platform')))
  app.notFound(notFound)
  app.use(
    metrics.requests('platform').middleware,
    frame({
      keys: gateway.keys,
      scope: 'platform',
      alsoFor: (path) => (isForInference(path) ? 'inference' : null),
      hosts,
      open(c) {
        const { path } = c.req
        return (
          withoutKey.has(path) ||
          isErrorPage(path) ||
          isDocument(path) ||
          isConsolePath(path) ||
          isHello(c) ||
          (path === '/metrics' && isOwnCollector(c.env.incoming)) ||
          (payments !== null && path.startsWith('/v1/'))
        )
      },
    }),
  )
  app.use(limit)
  registerRoutes(app, { gateway, routes, limit })
  docsRoutes(app, { routes, shared: codingSessionRoutes(gateway), agentGateway })
  errorPages(app)
  documentRoutes(app, { isPlatform: true })
  probes(app, readiness)
  app.get('/metrics', metrics.expose)
  hello(app, { root: false })
  consoleRoutes(app, consoleFolder)
  if (payments) app.use('/v1/*', paymentsFor(payments, gateway, deps))
  app.all('/v1/*', proxy.handle)
  // What Google's API asks of another agent gateway could not be billed.
  if (agentGateway.isOwn) for (const version of OWN_VERSIONS) app.all(`/${version}/*`, proxy.handle)
  refuseOtherMethods(app)
  return app
}

/** Creates the gate of `/v1` for callers with a key, and for those that pay for each request. */
function paymentsFor(
  payments: KeylessPayments,
  gateway: Gateway,
  { agentGateway, limit }: PlatformAppDeps,
): MiddlewareHandler<Frame> {
  return paymentGate({
    payments,
    heartbeat: watchHeartbeats(),
    price: () => payments.amount,
    async keyed(c) {
      const identity = await keyHolder(c, gateway)
      if (identity === null) return null
      c.set('identity', identity)
      await limit(c, async () => {})
      return identity
    },
    check(c) {
      payments.countKeyless(c)
      return checkPaidRequest(c, gateway, agentGateway)
    },
  })
}
