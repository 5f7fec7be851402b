import { json, type Received, startUpstream, type UpstreamDouble } from '../../doubles/upstream.ts'
import type { Agent } from './agents.ts'
import { conversationOf } from './conversation.ts'
import { PROVIDERS, type ProviderName } from './providers.ts'
import { type Deed, nextStep } from './script.ts'

/** Provider whose models steer an agent through the tasks of `script.ts`. */
export interface Steered {
  upstream: UpstreamDouble
  /** Bodies of its refusals since the beginning. */
  refusals(): string[]
  /** Resolves when a text that never ends has begun, with the end of its request. */
  hanging(): Promise<{ aborted: Promise<void> }>
  /** Forgets what was before, and steers an agent in a folder. */
  begin(agent: Pick<Agent, 'callFor'>, folder: string): void
}

/** Tokens that a full answer reports, so that the agent compacts. */
export const FULL = 150_000

/** Starts the doubles of all providers at one address: the model's name says which of them answers, `over-deepseek`. */
export async function startSteered(): Promise<Steered> {
  const upstream = await startUpstream()
  const refused: string[] = []
  let works: { agent: Pick<Agent, 'callFor'>; folder: string } | null = null
  let onHang: (request: Received) => void = () => {}
  let calls = 0

  const callOf = (deed: Deed) => {
    if (works === null) throw new Error('No agent works.')
    return { id: `call_${++calls}`, ...works.agent.callFor(deed, works.folder) }
  }

  for (const path of ['/chat/completions', '/messages'])
    upstream.on(path, (response, request) => {
      const body = request.body as { model: string; tools?: unknown[] }
      const provider = Object.entries(PROVIDERS).find(([name]) => body.model === modelOf(name as ProviderName))?.[1]
      if (provider === undefined || provider.path !== path)
        return json(404, { error: { message: `no such route or model ${body.model}` } })(response, request)
      const refusal = provider.refuses(request)
      if (refusal !== null) {
        refused.push(JSON.stringify(refusal.body))
        return json(refusal.status, refusal.body)(response, request)
      }
      const step = nextStep(conversationOf(body), (body.tools ?? []).length > 0)
      const promptTokens = 'isFull' in step ? FULL : Math.ceil(request.text.length / 4)
      const answer = {
        text: '',
        calls: 'deeds' in step ? step.deeds.map(callOf) : [],
        hangs: 'hangs' in step,
        promptTokens,
      }
      if ('says' in step) answer.text = step.says
      if ('hangs' in step) answer.text = step.hangs
      if (answer.hangs) onHang(request)
      return provider.answers(answer)(response, request)
    })
  upstream.on(
    '/models',
    json(200, {
      object: 'list',
      data: Object.keys(PROVIDERS).map((name) => ({ id: modelOf(name as ProviderName), object: 'model' })),
    }),
  )
  return {
    upstream,
    refusals: () => [...refused],
    hanging: () =>
      new Promise((resolve) => {
        onHang = ({ aborted }) => resolve({ aborted })
      }),
    begin(agent, folder) {
      works = { agent, folder }
      refused.length = 0
      upstream.received.length = 0
    },
  }
}

/** Name of a provider's model. */
export const modelOf = (name: ProviderName) => `over-${name.toLowerCase().replaceAll(' ', '-')}`

/** The upstreams of a configuration that reach each double by its model. */
export const upstreamsAt = ({ upstream: { url } }: Steered) =>
  Object.fromEntries(
    Object.entries(PROVIDERS).map(([name, { preset }]) => {
      const model = modelOf(name as ProviderName)
      const at = preset === null ? { provider: url } : { provider: preset, base_url: url }
      return [model, { ...at, api_keys: ['secret-of-the-double'], models: [model] }]
    }),
  )
