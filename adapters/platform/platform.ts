import { setMaxListeners } from 'node:events'
import { Hono } from 'hono'
import { createRemote } from '../../src/agent-gateway/agent-gateway.ts'
import { createSessionDirectory } from '../../src/agent-gateway/directory.ts'
import { createProbe } from '../../src/agent-gateway/probe.ts'
import { createRemoteAgent } from '../../src/agent-gateway/remote-agent.ts'
import type { AgentGatewayTarget } from '../../src/agent-gateway/target.ts'
import type { Gateway } from '../../src/gateway.ts'
import { createOwnObjects } from '../../src/inference/admit/own-objects.ts'
import { createSuccession } from '../../src/inference/relay/succession.ts'
import { consoleRoutes, isConsolePath } from '../console/routes.ts'
import { modelBodyLimit } from '../web/body-limit.ts'
import { errorHandler, notFound, refuseOtherMethods } from '../web/error-handler.ts'
import { errorPages, isErrorPage } from '../web/error-pages.ts'
import { frame } from '../web/frame.ts'
import type { Frame } from '../web/frame-context.ts'
import { liveClientAddresses, liveHostRules, liveRateLimit } from '../web/live-rules.ts'
import { livez } from '../web/probes.ts'
import { refusedCalls } from '../web/refused-calls.ts'
import { type Listening, serve } from '../web/serve.ts'
import { keyHolder } from './caller.ts'
import { keylessLimit } from './payments/keyless-limit.ts'
import type { PlatformPayments } from './payments/open-payments.ts'
import { checkPaidRequest } from './payments/paid-request.ts'
import { paymentGate } from './payments/payment-gate.ts'
import { createProxy, type Passage } from './proxy/proxy.ts'
import { registerRoutes } from './register.ts'
import { agentRegistrationRoutes } from './routes/agent-registration-routes.ts'
import { attestationRoutes } from './routes/attestation-routes.ts'
import { callRoutes } from './routes/calls-routes.ts'
import { configKeyRoutes } from './routes/config-keys-routes.ts'
import { configModelRoutes } from './routes/config-model-routes.ts'
import { configRoutes } from './routes/config-routes.ts'
import { connectionRoutes } from './routes/connections-routes.ts'
import { docsRoutes } from './routes/docs-routes.ts'
import { escrowRoutes } from './routes/escrow-routes.ts'
import { gazeRoutes } from './routes/gaze-routes.ts'
import { groupRoutes } from './routes/groups-routes.ts'
import { healthRoutes } from './routes/health-routes.ts'
import { jobRoutes } from './routes/jobs-routes.ts'
import { keyRoutes } from './routes/keys-routes.ts'
import { memoryRoutes } from './routes/memory-routes.ts'
import { meteredRoutes } from './routes/metered-routes.ts'
import { sessionChatRoutes } from './routes/session-chat-routes.ts'
import { sessionRoutes } from './routes/sessions-routes.ts'
import { skillRoutes } from './routes/skills-routes.ts'
import { swarmRoutes } from './routes/swarm-routes.ts'
import { taskRoutes } from './routes/tasks-routes.ts'
import { upstreamRoutes } from './routes/upstream-routes.ts'
import { verifySessionRoutes } from './routes/verify-session-routes.ts'
import { walletRoutes } from './routes/wallet-routes.ts'
import { operatorQueries } from './socket/queries.ts'
import { createAgentSocket } from './socket/socket.ts'

/** Options of the platform besides the gateway's services. */
export interface PlatformOptions {
  /** Agent gateway that `/v1` forwards to. */
  agentGateway: AgentGatewayTarget
  /** Payments for `/v1`, deposits and metered calls without a key. */
  payments?: PlatformPayments
  /** Folder of the built console; beside this program by default. */
  consoleFolder?: string
}

/**
 * Serves the agent platform over HTTP until it is stopped.
 *
 * @throws GazewayError `conflict` when the port is taken
 */
export async function servePlatform(gateway: Gateway, options: PlatformOptions): Promise<Listening> {
  const { http } = gateway.loaded.config
  const { agentGateway, payments = null } = options
  const probe = createProbe(agentGateway, () => new Date())
  const stopping = new AbortController()
  const deadline = new AbortController()
  // Each call in progress has one listener, so many listeners are no leak.
  setMaxListeners(0, stopping.signal, deadline.signal)
  const proxies = createSuccession<Passage>()
  const proxy = gateway.config.follow(
    ({ upstream, agent_gateway }) => ({
      connectTimeoutMs: upstream.connect_timeout_ms,
      timeoutMs: agent_gateway.timeout_ms,
      url: agent_gateway.url,
    }),
    (settings) =>
      proxies.put(
        createProxy({
          ...settings,
          target: agentGateway,
          bodyLimit: (callerId) => modelBodyLimit(gateway, callerId),
          callAgentGateway: (...call) => gateway.upstream.callAgentGateway(...call),
          objects: createOwnObjects(gateway.calls),
          stopping: deadline.signal,
        }),
      ),
  ).always
  const remote = createRemote({
    access: agentGateway,
    isConfigured: () => gateway.loaded.config.agent_gateway.url !== null,
    status: probe.current,
  })
  const agent = createRemoteAgent({
    own: gateway.agent,
    remote,
    gaze: gateway.gaze,
    silenceMs: () => gateway.loaded.config.agent_gateway.timeout_ms,
    now: () => new Date(),
  })
  const hosts = liveHostRules(gateway)
  const queries = operatorQueries({ ...gateway, config: () => gateway.loaded.config })
  const { limit, count } = liveRateLimit(gateway)
  const socket = createAgentSocket(gateway, { agent, queries, hosts, count })
  const keyless = keylessLimit(gateway)
  const resources = [
    ...keyRoutes(gateway, stopping.signal),
    ...groupRoutes(gateway),
    ...connectionRoutes(socket, () => gateway.loaded.config.chain.agent.public_url),
    ...meteredRoutes(gateway, payments && { ...payments, countKeyless: keyless }, stopping.signal),
    ...walletRoutes(gateway),
    ...agentRegistrationRoutes(gateway),
    ...taskRoutes(gateway),
    ...swarmRoutes(gateway, stopping.signal),
    ...escrowRoutes(gateway),
    ...callRoutes(gateway),
    ...configRoutes(gateway),
    ...configKeyRoutes(),
    ...configModelRoutes(gateway, stopping.signal),
    ...upstreamRoutes(gateway, stopping.signal),
    ...gazeRoutes(gateway, stopping.signal),
    ...attestationRoutes(gateway),
    ...verifySessionRoutes(gateway),
    ...memoryRoutes(gateway),
    ...sessionRoutes(gateway, createSessionDirectory({ own: gateway.sessions, remote })),
    ...sessionChatRoutes(gateway, agent, stopping.signal),
    ...skillRoutes(gateway, remote),
    ...jobRoutes(),
  ]
  const routes = [...healthRoutes(gateway, { probe, takesPayments: payments !== null }), ...resources]
  const withoutKey = new Set([
    '/openapi.json',
    '/docs',
    ...routes.filter(({ access }) => access === 'open' || access === 'caller').map(({ path }) => path),
  ])

  const app = new Hono<Frame>({ strict: false })
  app.onError(errorHandler(gateway.log, refusedCalls(gateway, 'platform')))
  app.notFound(notFound)
  app.use(
    frame({
      keys: gateway.keys,
      scope: 'platform',
      hosts,
      open: ({ req: { path } }) =>
        withoutKey.has(path) ||
        isErrorPage(path) ||
        isConsolePath(path) ||
        (payments !== null && path.startsWith('/v1/')),
    }),
  )
  app.use(limit)
  registerRoutes(app, { gateway, routes, limit })
  docsRoutes(app, routes)
  errorPages(app)
  livez(app)
  consoleRoutes(app, options.consoleFolder)
  if (payments)
    app.use(
      '/v1/*',
      paymentGate({
        payments,
        price: () => payments.amount,
        async keyed(c) {
          const identity = await keyHolder(c, gateway)
          if (identity === null) return null
          c.set('identity', identity)
          await limit(c, async () => {})
          return identity
        },
        check(c) {
          keyless(c)
          return checkPaidRequest(c, gateway, agentGateway)
        },
      }),
    )
  app.all('/v1/*', (c) => proxy.handle(c))
  refuseOtherMethods(app)

  const listening = await serve(app, {
    log: gateway.log,
    buffered: gateway.buffered,
    host: http.host,
    port: http.platform_port,
    flag: '--platform-port',
    headerTimeoutMs: http.header_timeout_ms,
    requestTimeoutMs: http.request_timeout_ms,
    keepAliveMs: http.keep_alive_ms,
    addresses: liveClientAddresses(gateway),
    onUpgrade: socket.upgrade,
    onLastWords: () => stopping.abort(),
    onDeadline: () => deadline.abort(),
  })
  probe.start()
  return {
    url: listening.url,
    async stop() {
      await Promise.all([listening.stop(), socket.stop()])
      await probe.stop()
      // In a later turn. When one turn closes several sockets, the last one learns of it first. This process's own
      // gateway would then take its client for gone, before it learns that it ended the forwarded request itself.
      await new Promise((resolve) => setImmediate(resolve))
      await proxies.close()
    },
  }
}
