import * as z from 'zod'
import { AgentGatewayStatus, isSound, modeOf, type Probe } from '../../../src/agent-gateway/probe.ts'
import { VERSION } from '../../../src/config/version.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { keyHolder } from '../caller.ts'
import { CAPABILITIES } from '../capabilities.ts'
import { defineRoute, type Route } from '../define-route.ts'

/** Features of the platform. All but payments are always enabled. */
const FEATURES = ['payments', 'escrow', 'gaze', 'swarm', 'memory', 'sessions', 'skills', 'config', 'socket'] as const
type Feature = (typeof FEATURES)[number]

const Mode = z
  .enum(['enhanced', 'portable', 'disconnected'])
  .describe('Service behind /v1: an agent gateway of 0.12 or later, inference only, or no answer.')

const Health = z.object({
  status: z
    .enum(['ok', 'degraded'])
    .describe(
      'Degraded: the store, the agent gateway, or every upstream for a role does not answer, or refuses its key.',
    ),
  version: z.string(),
  uptime_seconds: z.int(),
  store: z.object({ engine: z.string(), ok: z.boolean() }),
  provider: z
    .object({ name: z.string(), configured: z.boolean(), reachable: z.boolean().nullable() })
    .describe('The default upstream. reachable: by its last call, or a check at most every 30 s; null when unknown.'),
  providers: z
    .array(z.object({ name: z.string(), configured: z.boolean(), reachable: z.boolean().nullable() }))
    .describe('All upstreams by their names in the configuration; configured: the key that it needs is set.'),
  mode: Mode,
  upstream: AgentGatewayStatus,
})
export type Health = z.infer<typeof Health>

const GatewayStatus = z.object({
  mode: Mode,
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z
    .object(eachFeature(() => z.boolean()))
    .describe('Enabled features; payments: whether calls can be paid over HTTP 402.'),
  upstream: AgentGatewayStatus,
})

/** Routes of the platform's health, open to all. */
export const healthRoutes = (
  { store, upstream: models, liveness, keys }: Gateway,
  { probe, takesPayments }: { probe: Probe; takesPayments: boolean },
): Route[] => {
  /** The agent gateway, with its address for admins alone. */
  async function seenBy(c: FrameContext): Promise<AgentGatewayStatus> {
    const status = probe.current()
    const holder = await keyHolder(c, { keys }).catch(() => null)
    return holder?.scopes.has('admin') ? status : { ...status, url: null }
  }

  const features = eachFeature((feature) => feature !== 'payments' || takesPayments)
  return [
    defineRoute('GET /health', {
      operation: 'getHealth',
      summary: 'Check the health of the platform, store, upstreams and agent gateway',
      description: 'Always 200 while the process runs. The agent gateway is checked in the background every 10 s.',
      access: 'open',
      reply: Health,
      async run({ c }) {
        const [ok, { upstreams, answers }, upstream] = await Promise.all([store.check(), liveness.current(), seenBy(c)])
        const { label: name, hasKey: configured } = models.provider
        const reachable = upstreams[0]?.reachable ?? null
        return {
          status: ok && answers && isSound(upstream) ? ('ok' as const) : ('degraded' as const),
          version: VERSION,
          uptime_seconds: Math.floor(process.uptime()),
          store: { engine: store.engine, ok },
          provider: { name, configured, reachable },
          providers: upstreams,
          mode: modeOf(upstream),
          upstream,
        }
      },
    }),
    defineRoute('GET /api/gateway-status', {
      operation: 'getGatewayStatus',
      summary: 'Retrieve the capabilities of the platform and its agent gateway',
      access: 'open',
      reply: GatewayStatus,
      async run({ c }) {
        const upstream = await seenBy(c)
        return { mode: modeOf(upstream), capabilities: [...CAPABILITIES], features, upstream }
      },
    }),
  ]
}

function eachFeature<Value>(of: (feature: Feature) => Value): Record<Feature, Value> {
  return Object.fromEntries(FEATURES.map((feature) => [feature, of(feature)])) as Record<Feature, Value>
}
