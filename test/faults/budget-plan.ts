import fc from 'fast-check'
import { type Behaviour, chunks, completion, json, sse } from '../doubles/upstream.ts'

export const PROCESSES = 3
export const CREDIT_USD = 3

/** Terms of the keys of a run, which share a group. */
export const KEYS = [
  { billing: 'metered', limits: { credit_limit_usd: CREDIT_USD } },
  { billing: 'cost', limits: { credit_limit_usd: 100, budgets: [{ usd: 0.1, per: 'total' }] } },
  { billing: 'recorded', limits: { budgets: [{ usd: 0.1, per: 'total' }] } },
] as const

/** Script of the upstream's answer, which it reads from the prompt. */
export interface Script {
  words: number
  usage: 'none' | 'true'
  end: 'done' | 'break' | 'hang' | 'error'
}

/** A call to one of the processes by one of the keys; `left` is a stream that its client leaves. */
export interface CallStep {
  do: 'call'
  by: number
  key: number
  endpoint: 'whole' | 'stream' | 'left' | 'metered'
  max_tokens: number | null
  script: Script
}

export type Step =
  | CallStep
  | { do: 'budget'; by: number; key: number; of: 'key' | 'group'; usd: number }
  | { do: 'move'; by: number; key: number; into: boolean }
  | { do: 'kill'; by: number }

const by = fc.nat(PROCESSES - 1)
const key = fc.nat(KEYS.length - 1)
const call: fc.Arbitrary<CallStep> = fc.record({
  do: fc.constant('call'),
  by,
  key,
  endpoint: fc.constantFrom('whole', 'whole', 'stream', 'left', 'metered'),
  max_tokens: fc.constantFrom(null, 1, 50, 50, 500, 2_000_000),
  script: fc.record<Script>({
    words: fc.constantFrom(1, 10, 10, 100, 600),
    usage: fc.constantFrom('none', 'true', 'true'),
    end: fc.constantFrom('done', 'done', 'done', 'break', 'error'),
  }),
})
const usd = fc.integer({ min: 1, max: 200_000 }).map((micros) => micros / 1e6)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: call },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('budget'), by, key, of: fc.constantFrom('key', 'group'), usd }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move'), by, key, into: fc.boolean() }) },
)

/** Steps for all processes; one of them is killed among them. */
export const plans: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }),
    fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }),
    by,
  )
  .map(([before, after, killed]) => [...before, { do: 'kill', by: killed }, ...after])

/**
 * Answers as the last message says, within the limit of the request. Usage beyond it would count in budgets:
 * `test/adapters/beyond-reservation.test.ts`.
 */
export const answer: Behaviour = async (reply, request) => {
  const { messages, stream, max_tokens } = request.body as AnsweredRequest
  const script = JSON.parse(messages.at(-1)?.content ?? '') as Script
  const { usage, end } = script
  const words = Math.min(script.words, max_tokens ?? Infinity)
  const said = usage === 'none' ? null : usageOf(60, words)
  if (end === 'error') return json(500, { error: { message: 'broken' } })(reply, request)
  const text = Array.from({ length: words }, () => 'word ')
  if (stream) return sse(chunks(text, said), end)(reply, request)
  if (end === 'break') return void reply.socket?.destroy()
  return json(200, completion(text.join(''), said))(reply, request)
}

interface AnsweredRequest {
  messages: { content: string }[]
  stream?: boolean
  max_tokens?: number
}

const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
})
