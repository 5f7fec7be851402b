import { estimateUsage } from '../inference/observe/estimate.ts'
import { maxCost, type PricedModel, type Prices } from '../providers/prices.ts'
import type { Micros } from '../text/money.ts'
import type { MeteredCall } from './metered-call.ts'

/** Factor for provider tokenizers that count more than ours. */
const TOKENIZER_FACTOR = 1.25
/** Tokens that a provider adds around a prompt: its own instructions, roles, tool descriptions. */
const WRAPPING_TOKENS = 256

/** Dependencies of the worst case. */
export interface WorstCaseDeps {
  prices: Prices
  /** Tokens allowed for search results, when the call has tools. */
  searchTokens: number
  countTokens: (text: string) => Promise<number>
}

/**
 * Upper bound of the upstream's cost, in micro-dollars. It is the sum of these tokens, at the price of the most
 * expensive model that may answer:
 *
 * - 1.25 × the prompt, and 256 tokens around it
 * - search results, when the call has tools
 * - every token that may be generated
 *
 * @param maxTokens most tokens to generate
 * @param models models that may answer: the requested one, and the fallback
 */
export async function worstCase(
  { prices, searchTokens, countTokens }: WorstCaseDeps,
  { prompt, tools }: MeteredCall,
  maxTokens: number,
  models: readonly PricedModel[],
): Promise<Micros> {
  const counted = (await estimateUsage(countTokens, prompt, '')).prompt_tokens
  const around = WRAPPING_TOKENS + (tools.length > 0 ? searchTokens : 0)
  return maxCost({ prompt: Math.ceil(counted * TOKENIZER_FACTOR) + around, answer: maxTokens }, models, prices)
}
