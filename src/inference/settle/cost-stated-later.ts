import type { Usage } from '../../providers/token-usage.ts'
import { isObject } from '../../text/json.ts'
import { MICROS_PER_USD, type Micros } from '../../text/money.ts'
import { keyHeaders } from '../upstreams/key-headers.ts'
import type { Provider } from '../upstreams/provider.ts'

/** Time within which the cost of an answer that was ended is known, in milliseconds. */
const LONGEST_MS = 60_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000

/** Cost of an answer, as its provider states it afterwards. */
export interface Stated {
  usage: Usage
  costMicros: Micros
}

/**
 * Asks the provider what an answer has cost that was ended before its usage came. Asks again until the provider knows.
 *
 * @param id the provider's id of the answer
 * @returns null when the provider does not say within a minute
 */
export async function statedLater(provider: Provider, id: string): Promise<Stated | null> {
  const url = `${provider.baseUrl}${provider.generations}?id=${encodeURIComponent(id)}`
  const until = performance.now() + LONGEST_MS
  for (let pause = FIRST_PAUSE_MS; performance.now() < until; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const stated = await ask(provider, url).catch(() => null)
    if (stated !== null) return stated
    await new Promise((resolve) => setTimeout(resolve, pause).unref())
  }
  return null
}

async function ask(provider: Provider, url: string): Promise<Stated | null> {
  const headers = { ...provider.headers, ...keyHeaders(provider) }
  const reply = await provider.fetch(url, { headers, signal: AbortSignal.timeout(LONGEST_PAUSE_MS) })
  const answer: unknown = await reply.json()
  return reply.ok && isObject(answer) && isObject(answer.data) ? readStated(answer.data) : null
}

/** Reads a generation. Null when its cost or its tokens are missing or implausible. */
function readStated({
  total_cost: cost,
  native_tokens_prompt: prompt,
  native_tokens_completion: completion,
}: Record<string, unknown>): Stated | null {
  if (typeof cost !== 'number' || !(cost >= 0) || !isCount(prompt) || !isCount(completion)) return null
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  return { usage, costMicros: Math.ceil(cost * MICROS_PER_USD - 1e-6) }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
