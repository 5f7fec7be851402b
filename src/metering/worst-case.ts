import { estimateUsage } from '../inference/estimate.ts'
import { mostCost, type PricedModel, type Prices } from '../providers/prices.ts'
import type { Micros } from '../text/money.ts'
import type { MeteredCall } from './metered-call.ts'

/** Another tokenizer than ours may count more. */
const TOKENIZER_FACTOR = 1.25
/** What a provider puts around a prompt (its own instructions, roles, tool descriptions), in tokens. */
const WRAPPING_TOKENS = 256

/** What the worst case is reckoned with. */
export interface WorstCaseDeps {
  prices: Prices
  /** Tokens of search results that are reckoned with where there are tools. */
  searchTokens: number
  countTokens: (text: string) => Promise<number>
}

/**
 * The most that a call should cost upstream, in micro-dollars: 1.25 × the counted prompt, 256 tokens around it, search
 * results where there are tools, and every token that it may generate, at the price of the dearest model that may answer.
 *
 * @param maxTokens the most tokens that are generated
 * @param models that may answer: the one asked for, and the fallback
 */
export async function worstCase(
  { prices, searchTokens, countTokens }: WorstCaseDeps,
  { prompt, tools }: MeteredCall,
  maxTokens: number,
  models: readonly PricedModel[],
): Promise<Micros> {
  const counted = (await estimateUsage(countTokens, prompt, '')).prompt_tokens
  const around = WRAPPING_TOKENS + (tools.length > 0 ? searchTokens : 0)
  return mostCost({ prompt: Math.ceil(counted * TOKENIZER_FACTOR) + around, answer: maxTokens }, models, prices)
}
