import type { Usage } from '../../providers/token-usage.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { requestText } from './request-text.ts'

/** Longest piece that is counted at once: a text without spaces costs the tokenizer quadratic time. */
const PIECE = 1000
/** Number of characters beyond which the count is extrapolated. */
const COUNTED = 200_000

/**
 * Tokens assumed for an image, a recording or a file in a request. OpenAI counts 765 tokens for an image of 1024 × 1024
 * px in high detail (https://platform.openai.com/docs/guides/images-vision, GPT-4o: 85 and 170 for each of four tiles);
 * rounded up, as images may be larger.
 */
export const MEDIA_TOKENS = 1100

/**
 * Estimates usage when the upstream reports none, marked `estimated`. Rather too high than too low, because of cut
 * pieces and JSON punctuation. Media in the request count as 1,100 tokens each, whatever their size.
 *
 * @param factor length of the whole answer, relative to `answer`
 */
export async function estimateUsage(
  countTokens: (text: string) => Promise<number>,
  request: unknown,
  answer: string,
  factor = 1,
): Promise<Usage> {
  const prompt = await estimatePrompt(countTokens, request)
  const completion = Math.ceil((await countLong(countTokens, answer)) * factor)
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, estimated: true }
}

/** Estimates the tokens of a request: {@link estimateUsage} without an answer. */
export async function estimatePrompt(
  countTokens: (text: string) => Promise<number>,
  request: unknown,
): Promise<number> {
  const { text, media } = await requestText(request)
  return (await countLong(countTokens, text)) + media * MEDIA_TOKENS
}

/**
 * Counts the tokens of any text in bounded time: in pieces, and extrapolated for very long texts. Slightly too high.
 */
export async function countLong(countTokens: (text: string) => Promise<number>, text: string): Promise<number> {
  const counted = Math.min(text.length, COUNTED)
  let tokens = 0
  for (let at = 0; at < counted; at += PIECE) {
    await yieldToEventLoop()
    tokens += await countTokens(text.slice(at, Math.min(at + PIECE, counted)))
  }
  return counted === 0 ? 0 : Math.ceil((tokens * text.length) / counted)
}
