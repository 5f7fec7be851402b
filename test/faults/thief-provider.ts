import { setTimeout as delay } from 'node:timers/promises'
import type { Micros } from '../../src/text/money.ts'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  response,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { THIEVES, type Thief, type ThiefName } from './thieves.ts'

/** The flat price, in micro-dollars a token. */
const TOKEN = 3
/** Tokens of each prompt: fewer than are reserved for its bytes. */
const PROMPT_TOKENS = 250

/** Tokens that a provider reads beside the prompt: stored ones, and pages of a search. */
const READ: Partial<Record<Thief['kind'], number>> = { stored: 5750, searching: 700 }

/** Call of a thief, as the provider reads it from the prompt. */
export interface Script {
  by: ThiefName
  words: number
  /** True when the answer does not begin before {@link ThiefProvider.release}. */
  isHeld?: boolean
}

/** A provider that bills each call when it begins. */
export interface ThiefProvider {
  url: string
  /** Billed to each thief so far. */
  billed: ReadonlyMap<ThiefName, Micros>
  /** Number of answers that are held. */
  held(): number
  /** Lets the answers go that are held. */
  release(): void
  close(): Promise<void>
}

/** Starts a provider that does to the calls of each thief what the thief is about. */
export async function startThiefProvider(): Promise<ThiefProvider> {
  const upstream: UpstreamDouble = await startUpstream()
  const billed = new Map<ThiefName, Micros>()
  const held: (() => void)[] = []
  const bills: Behaviour = async (reply, request) => {
    const {
      messages,
      input,
      stream,
      max_tokens = 0,
    } = request.body as {
      messages?: { content: string }[]
      input?: string
      stream?: boolean
      max_tokens?: number
    }
    const { by, words, isHeld } = JSON.parse(messages?.at(-1)?.content ?? input ?? '') as Script
    const { kind } = THIEVES.find(({ name }) => name === by) as Thief
    const prompt_tokens = PROMPT_TOKENS + (READ[kind] ?? 0)
    const hidden = kind === 'thinking' ? max_tokens - words : 0
    const completion_tokens = kind === 'endless' ? 12 * max_tokens : words + hidden
    const usage = {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      ...(hidden > 0 && { completion_tokens_details: { reasoning_tokens: hidden } }),
    }
    billed.set(by, (billed.get(by) ?? 0) + usage.total_tokens * TOKEN)
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
    else await delay(words)
    const text = 'word '.repeat(Math.min(words, completion_tokens))
    if (kind === 'broken')
      return json(200, { error: { message: 'The worker died.', code: 502 }, usage })(reply, request)
    if (kind === 'stored' || kind === 'searching') {
      const of = { input_tokens: prompt_tokens, output_tokens: completion_tokens, total_tokens: usage.total_tokens }
      const searches = kind === 'searching' ? [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] : []
      const answer = response(text)
      return json(200, { ...answer, output: [...searches, ...answer.output], usage: of })(reply, request)
    }
    if (stream) return sse(chunks([text], usage))(reply, request)
    return json(200, completion(text, usage))(reply, request)
  }
  upstream.on('/chat/completions', bills)
  upstream.on('/responses', bills)
  return {
    url: upstream.url,
    billed,
    held: () => held.length,
    release() {
      for (const go of held.splice(0)) go()
    },
    close: upstream.close,
  }
}
