import type { Usage } from '../providers/token-usage.ts'
import { giveWay } from '../wire/give-way.ts'
import { requestText } from './request-text.ts'

/** Longer pieces without a space cost the tokenizer quadratic time. */
const PIECE = 1000
/** Beyond this many characters the count is extrapolated. */
const COUNTED = 200_000

/**
 * What a picture, a recording or a file in a request counts as. OpenAI counts 765 tokens for a picture of 1024 × 1024 px
 * in high detail (https://platform.openai.com/docs/guides/images-vision, GPT-4o: 85 and 170 for each of four tiles);
 * this is rounded up, as pictures may be larger.
 */
export const MEDIA_TOKENS = 1100

/**
 * Usage where the upstream reported none: tokens counted here, and marked `estimated`. Cut pieces and JSON punctuation
 * make it a little too high rather than too low. Media in the request count as 1,100 tokens each, whatever their size.
 *
 * @param factor how much longer the whole answer was than the part of it in `answer`
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

/** The tokens of a request, counted here: {@link estimateUsage} without an answer. */
export async function estimatePrompt(
  countTokens: (text: string) => Promise<number>,
  request: unknown,
): Promise<number> {
  const { text, media } = await requestText(request)
  return (await countLong(countTokens, text)) + media * MEDIA_TOKENS
}

/** The tokens of any text in bounded time: counted in pieces, and extrapolated for what is very long. A little too high. */
export async function countLong(countTokens: (text: string) => Promise<number>, text: string): Promise<number> {
  const counted = Math.min(text.length, COUNTED)
  let tokens = 0
  for (let at = 0; at < counted; at += PIECE) {
    await giveWay()
    tokens += await countTokens(text.slice(at, Math.min(at + PIECE, counted)))
  }
  return counted === 0 ? 0 : Math.ceil((tokens * text.length) / counted)
}
