import * as z from 'zod'
import { isSound, type Probe } from '../../../src/agent-gateway/probe.ts'
import { VERSION } from '../../../src/config/version.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { defineRoute, type Route } from '../define-route.ts'

const GatewayState = z
  .enum(['running', 'degraded'])
  .describe('degraded: the store, the agent gateway or the upstreams do not answer')

const Status = z.object({
  version: z.string(),
  claude_home: z.string().describe('Empty: there is no such folder'),
  gateway_running: z.boolean(),
  gateway_state: GatewayState,
})

const DetailedHealth = z.object({
  status: z.enum(['ok', 'degraded']),
  platform: z.literal('gazeway'),
  version: z.string(),
  gateway_state: GatewayState,
  platforms: z.object({}).describe('None: no chat services are connected'),
  updated_at: z.string(),
})

const Profiles = z.object({
  profiles: z.array(z.object({ name: z.string(), is_default: z.boolean(), model: z.string(), provider: z.string() })),
})

const ModelInfo = z.object({
  model: z.string().describe('Model of chats that name none'),
  provider: z.string(),
  auto_context_length: z.int().describe('Tokens of its context window; 0 where that is unknown'),
  config_context_length: z.int().describe('0: none is configured'),
  effective_context_length: z.int(),
  capabilities: z.object({ context_window: z.int().optional() }),
})

/**
 * Routes that Hermes Workspace asks for, in the shapes of Hermes Agent, as far as this platform has the facts. What it
 * does not have is 404, which the workspace takes for "not supported".
 */
export function workspaceRoutes(gateway: Gateway, probe: Probe): Route[] {
  const { store, liveness, upstream } = gateway

  async function state(): Promise<z.infer<typeof GatewayState>> {
    const [ok, { answers }] = await Promise.all([store.check(), liveness.current()])
    return ok && answers && isSound(probe.current()) ? 'running' : 'degraded'
  }

  function modelInfo(): z.infer<typeof ModelInfo> {
    const model = gateway.loaded.config.upstream.models.chat
    const { context = null } = upstream.describe(model)
    return {
      model,
      provider: upstream.provider.label,
      auto_context_length: context ?? 0,
      config_context_length: 0,
      effective_context_length: context ?? 0,
      capabilities: context === null ? {} : { context_window: context },
    }
  }

  return [
    defineRoute('GET /api/status', {
      operation: 'getStatus',
      summary: 'Retrieve the state, as Hermes Workspace asks for it',
      access: 'open',
      reply: Status,
      run: async () => ({
        version: VERSION,
        claude_home: '',
        gateway_running: true,
        gateway_state: await state(),
      }),
    }),
    defineRoute('GET /api/model/info', {
      operation: 'getModelInfo',
      summary: 'Retrieve the model in use, as Hermes Workspace asks for it',
      access: 'open',
      reply: ModelInfo,
      run: async () => modelInfo(),
    }),
    defineRoute('GET /health/detailed', {
      operation: 'getDetailedHealth',
      summary: 'Check the health, as Hermes Workspace asks for it',
      access: 'open',
      reply: DetailedHealth,
      async run() {
        const gateway_state = await state()
        return {
          status: gateway_state === 'running' ? ('ok' as const) : ('degraded' as const),
          platform: 'gazeway' as const,
          version: VERSION,
          gateway_state,
          platforms: {},
          updated_at: new Date().toISOString(),
        }
      },
    }),
    defineRoute('GET /api/profiles', {
      operation: 'listProfiles',
      summary: 'List profiles, as Hermes Workspace asks for them; there is one',
      access: 'platform',
      reply: Profiles,
      async run() {
        const { model, provider } = modelInfo()
        return { profiles: [{ name: 'default', is_default: true, model, provider }] }
      },
    }),
  ]
}
