import { chunks, json, type Received, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { conversationOf } from '../soak/agents/conversation.ts'
import { toolCall } from './claude.ts'
import type { Step } from './working-agents.ts'

/** Models that it has. */
const MODELS = ['llm-4.20-0309-reasoning', 'llm-3-fast']

/** Words after which an answer neither goes on nor ends. */
export const BEGUN = 'I have begun'

/** A provider whose model makes the steps of tasks, which prompts name: `task:pay`. */
export interface SteeredModel extends Pick<UpstreamDouble, 'url' | 'close' | 'received'> {
  tasks: Map<string, readonly Step[]>
  /** Resolves when the next answer has begun that never ends. */
  hanging(): Promise<Received>
}

/** Starts it. Each answer reports other tokens, so that no two sums are equal by chance. */
export async function startSteeredModel(): Promise<SteeredModel> {
  const upstream = await startUpstream()
  const tasks = new Map<string, readonly Step[]>()
  let onHang: (request: Received) => void = () => {}
  let answers = 0
  upstream.on('/models', json(200, { object: 'list', data: MODELS.map((id) => ({ id, context_length: 200_000 })) }))
  upstream.on('/responses', json(404, { error: { message: 'no such route' } }))
  upstream.on('/chat/completions', (response, request) => {
    const body = request.body as { tools?: unknown[] }
    const usage = usageOf(++answers)
    const step = body.tools?.length ? nextStep(tasks, request) : 'A title'
    if (typeof step === 'string' && step !== BEGUN) return sse(chunks([step], usage))(response, request)
    if (step !== BEGUN) return sse([...step, { ...step[0], choices: [], usage }])(response, request)
    onHang(request)
    return sse(chunks([BEGUN], null).slice(0, -1), 'hang')(response, request)
  })
  return { ...upstream, tasks, hanging: () => new Promise((resolve) => (onHang = resolve)) }
}

const usageOf = (n: number) => ({
  prompt_tokens: 1000 + 37 * n,
  prompt_tokens_details: { cached_tokens: 100 + 7 * n },
  completion_tokens: 11 + 3 * n,
  total_tokens: 1011 + 40 * n,
})

/** The next step of the task that a conversation is about: its last words, or the chunks of a call. */
function nextStep(tasks: ReadonlyMap<string, readonly Step[]>, { body }: Received): string | object[] {
  const said = conversationOf(body as Record<string, unknown>)
  const names = said.map(({ role, text }) => (role === 'user' ? /task:(\w+)/.exec(text)?.[1] : undefined))
  const at = names.findLastIndex((name) => name !== undefined)
  const task = tasks.get(names[at] ?? '') ?? []
  const made = said.slice(at).filter(({ calls }) => calls > 0).length
  const step = task[made] ?? `There is no step ${made} of ${names[at]}.`
  if (typeof step === 'string') return step
  const { name, input } = step(said.findLast(({ role }) => role === 'result')?.text ?? '')
  return toolCall(name, input, `call_${names[at]}_${made}`)
}
