import { z } from 'zod'
import { AgentGatewayStatus, isSound, modeOf, type Probe } from '../../src/agent-gateway/probe.ts'
import type { Gateway } from '../../src/gateway.ts'
import { VERSION } from '../../src/version.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Health'

/** What the platform can do, by the identifiers that agents look for. */
export const CAPABILITIES = [
  'gaze_data_storage',
  'gaze_data_retrieval',
  'gaze_pattern_analysis',
  'context_awareness',
  'ai_chat',
  'usage_analytics',
  'tempo_billing',
  'task_escrow',
] as const

/** Feature → where its routes are. */
const FEATURES = {
  payments: '/api/wallet/metered/',
  escrow: '/api/wallet/escrow',
  gaze: '/api/gaze/',
  swarm: '/api/tasks/swarm',
  memory: '/api/memory',
  sessions: '/api/sessions',
  skills: '/api/skills',
  config: '/api/config',
  socket: '/agent',
} as const

const Mode = z
  .enum(['enhanced', 'portable', 'disconnected'])
  .describe('What is behind /v1: an agent gateway of 0.12 or later; inference only; nothing that answers.')

const Health = z.object({
  status: z
    .enum(['ok', 'degraded'])
    .describe('Degraded: the store or the agent gateway does not answer, or the latter refuses its key.'),
  version: z.string(),
  uptime_seconds: z.int(),
  store: z.object({ engine: z.string(), ok: z.boolean() }),
  mode: Mode,
  upstream: AgentGatewayStatus,
})

const GatewayStatus = z.object({
  mode: Mode,
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z.object(mapped(() => z.boolean())).describe('Which parts of the platform are served.'),
  upstream: AgentGatewayStatus,
})

/** How the platform is, open to all. */
export const healthRoutes = ({ store }: Gateway, probe: Probe, served: readonly Pick<Route, 'path'>[]): Route[] => {
  const features = mapped((prefix) => served.some(({ path }) => path.startsWith(prefix)))
  return [
    defineRoute({
      method: 'GET',
      path: '/health',
      tag,
      summary: 'Whether the platform, its store and the agent gateway work',
      description: 'Always 200 while the process serves. The agent gateway is checked in the background every 10 s.',
      access: 'open',
      reply: Health,
      async run() {
        const ok = await store.check()
        const upstream = probe.current()
        return {
          status: ok && isSound(upstream) ? ('ok' as const) : ('degraded' as const),
          version: VERSION,
          uptime_seconds: Math.floor(process.uptime()),
          store: { engine: store.engine, ok },
          mode: modeOf(upstream),
          upstream,
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/gateway-status',
      tag,
      summary: 'What the platform offers, and what is behind it',
      access: 'open',
      reply: GatewayStatus,
      async run() {
        const upstream = probe.current()
        return { mode: modeOf(upstream), capabilities: [...CAPABILITIES], features, upstream }
      },
    }),
  ]
}

/** Something for each feature. */
function mapped<Value>(of: (prefix: string) => Value): Record<keyof typeof FEATURES, Value> {
  const entries = Object.entries(FEATURES).map(([feature, prefix]) => [feature, of(prefix)])
  return Object.fromEntries(entries)
}
