import { setMaxListeners } from 'node:events'
import { createRemote } from '../../src/agent-gateway/agent-gateway.ts'
import { createProbe } from '../../src/agent-gateway/probe.ts'
import { createRemoteAgent } from '../../src/agent-gateway/remote-agent.ts'
import type { AgentGatewayTarget } from '../../src/agent-gateway/target.ts'
import type { Gateway } from '../../src/gateway.ts'
import { type Metrics, openMetrics } from '../metrics/metrics.ts'
import { liveClientAddresses, liveHostRules, liveRateLimit } from '../web/live-rules.ts'
import { createReadiness, type Readiness } from '../web/readiness.ts'
import { type Listening, serve } from '../web/serve.ts'
import { keylessLimit } from './payments/keyless-limit.ts'
import type { PlatformPayments } from './payments/open-payments.ts'
import { createPlatformApp } from './platform-app.ts'
import { platformRoutes } from './platform-routes.ts'
import { liveProxy } from './proxy/live-proxy.ts'
import { createResponsesDoor } from './responses-door.ts'
import { operatorQueries } from './socket/queries.ts'
import { createAgentSocket } from './socket/socket.ts'

/** Options of the platform besides the gateway's services. */
export interface PlatformOptions {
  /** Agent gateway that `/v1` forwards to. */
  agentGateway: AgentGatewayTarget
  /** Payments for `/v1`, deposits and metered calls without a key. */
  payments?: PlatformPayments
  /** Readiness of the process; ready by default. */
  readiness?: Readiness
  /** Metrics of the process; of the platform alone by default. */
  metrics?: Metrics
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
  const { agentGateway, consoleFolder, readiness = createReadiness(gateway.store, 'ready') } = options
  const { metrics = openMetrics(gateway, readiness) } = options
  const payments = options.payments ? { ...options.payments, countKeyless: keylessLimit(gateway) } : null
  const probe = createProbe(agentGateway, () => new Date())
  const draining = new AbortController()
  const stopping = new AbortController()
  const deadline = new AbortController()
  // Each call in progress has one listener, so many listeners are no leak.
  setMaxListeners(0, draining.signal, stopping.signal, deadline.signal)
  const proxy = liveProxy(gateway, agentGateway, deadline.signal)
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
  metrics.countSockets('agent', socket.open)
  const responses = createResponsesDoor(gateway, agentGateway, { hosts, count, others: socket.upgrade })
  const services = { agent, remote, socket, payments, probe, draining: draining.signal, stopping: stopping.signal }
  const routes = platformRoutes(gateway, services)
  const parts = { routes, hosts, readiness, metrics, agentGateway, payments, proxy, limit, consoleFolder }
  const app = createPlatformApp(gateway, parts)

  const listening = await serve(app, {
    log: gateway.log,
    buffered: gateway.buffered,
    host: http.host,
    port: http.platform_port,
    flag: '--platform-port',
    headerTimeoutMs: http.header_timeout_ms,
    requestTimeoutMs: http.request_timeout_ms,
    keepAliveMs: http.keep_alive_ms,
    drainMs: () => gateway.loaded.config.http.drain_ms,
    isDraining: readiness.isDraining,
    addresses: liveClientAddresses(gateway),
    onUpgrade: responses.upgrade,
    onLastWords: () => stopping.abort(),
    onDeadline: () => deadline.abort(),
  })
  probe.start()
  return {
    url: listening.url,
    async stop() {
      draining.abort()
      responses.stop()
      await Promise.all([listening.stop(), socket.stop()])
      await probe.stop()
      // In a later turn. When one turn closes several sockets, the last one learns of it first. This process's own
      // gateway would then take its client for gone, before it learns that it ended the forwarded request itself.
      await new Promise((resolve) => setImmediate(resolve))
      await proxy.close()
    },
  }
}
