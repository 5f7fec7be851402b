import { Hono, type MiddlewareHandler } from 'hono'
import { createProbe } from '../src/agent-gateway/probe.ts'
import type { AgentGatewayTarget } from '../src/agent-gateway/target.ts'
import type { Gateway } from '../src/gateway.ts'
import { docsRoutes } from './platform/docs.ts'
import { healthRoutes } from './platform/health.ts'
import { keyRoutes } from './platform/keys.ts'
import { meteredRoutes } from './platform/metered.ts'
import type { PlatformPayments } from './platform/open-payments.ts'
import { createProxy } from './platform/proxy.ts'
import { registerRoutes } from './platform/register.ts'
import { walletRoutes } from './platform/wallet.ts'
import { errorHandler, notFound, refuseOtherMethods } from './web/errors.ts'
import { type Frame, frame } from './web/frame.ts'
import { hostRules } from './web/hosts.ts'
import { rateLimit } from './web/rate-limit.ts'
import { type Listening, serve } from './web/serve.ts'

/** What the platform is started with, beside the gateway's services. */
export interface PlatformOptions {
  /** What `/v1` is passed on to. */
  agentGateway: AgentGatewayTarget
  /**
   * Comes before every request to `/v1`, which then needs a payment in place of a key: answers those that have yet to
   * pay, and says whose the others are.
   */
  paymentGate?: MiddlewareHandler<Frame>
  /** How deposits can be paid. */
  payments?: PlatformPayments
}

/**
 * Serves the agent platform over HTTP until it is stopped.
 *
 * @throws GazewayError `conflict` when the port is taken
 */
export async function servePlatform(gateway: Gateway, options: PlatformOptions): Promise<Listening> {
  const { http, upstream, agent_gateway } = gateway.loaded.config
  const { agentGateway, paymentGate, payments = null } = options
  const probe = createProbe(agentGateway, () => new Date())
  const proxy = createProxy({
    target: agentGateway,
    maxBodyBytes: http.max_body_bytes,
    connectTimeoutMs: upstream.connect_timeout_ms,
    timeoutMs: agent_gateway.timeout_ms,
  })
  const resources = [...keyRoutes(gateway), ...meteredRoutes(gateway, payments), ...walletRoutes(gateway)]
  const routes = [...healthRoutes(gateway, probe, resources), ...resources]
  const withoutKey = new Set([
    '/openapi.json',
    '/docs',
    ...routes.filter(({ access }) => access === 'open' || access === 'caller').map(({ path }) => path),
  ])

  const app = new Hono<Frame>({ strict: false })
  app.onError(errorHandler(gateway.log))
  app.notFound(notFound)
  app.use(
    frame({
      keys: gateway.keys,
      scope: 'platform',
      hosts: hostRules(http.host, http.allowed_hosts, http.allowed_origins),
      open: (c) => withoutKey.has(c.req.path) || (paymentGate !== undefined && c.req.path.startsWith('/v1/')),
    }),
  )
  const { requests_per_minute } = http.rate_limit
  const limit = requests_per_minute === null ? null : rateLimit(requests_per_minute)
  if (limit) app.use(limit)
  registerRoutes(app, { gateway, routes, limit })
  docsRoutes(app, routes)
  if (paymentGate) app.use('/v1/*', paymentGate)
  app.all('/v1/*', proxy.handle)
  refuseOtherMethods(app)

  const listening = await serve(app, {
    host: http.host,
    port: http.platform_port,
    flag: '--platform-port',
    headerTimeoutMs: http.header_timeout_ms,
    requestTimeoutMs: http.request_timeout_ms,
  })
  probe.start()
  return {
    url: listening.url,
    async stop() {
      await listening.stop()
      await probe.stop()
      await proxy.close()
    },
  }
}
