import { isFileGone, isOutOfFiles } from '../errors.ts'
import type { Usage } from '../providers/token-usage.ts'
import { estimateUsage } from './estimate.ts'
import type { SseTap } from './relay/sse-tap.ts'

/** What a model said, and by which factor its whole answer was longer than what is kept of it. */
export interface Said {
  text: string
  factor: number
}

/** What was observed of an answer on its way to the client. */
export interface Observed {
  /** The last usage that the upstream reported. */
  usage: Usage | null
  /** What to count where no usage was reported; null where nothing is to be counted. */
  said: (() => Said) | null
  /** The answer as it is kept where content is; by default the text of `said`. */
  answer?: unknown
  /** Ids that the upstream gave to what the call made there. */
  made?: readonly string[]
}

/** Nothing was answered. */
export const NOTHING: Observed = { usage: null, said: null }

/** What has gone by of a stream. */
export const observedStream = (tap: SseTap): Observed => ({ usage: tap.usage(), said: tap.said })

/** An answer that came whole; `said` is the part of it that the model wrote. */
export const observedWhole = (usage: Usage | null, said: unknown, answer: unknown): Observed => ({
  usage,
  said: () => ({ text: JSON.stringify(said), factor: 1 }),
  answer,
})

/**
 * Usage that was not reported, counted as `estimateUsage` does. Null where nothing was said before an answer failed; where the answer is nested so
 * deeply that it can be read but not written again; and where the tokenizer is gone, as after an upgrade: the client has
 * the answer, and the call is recorded, all the same.
 */
export async function countUsage(
  countTokens: (text: string) => Promise<number>,
  request: unknown,
  said: () => Said,
  error: Error | null,
): Promise<Usage | null> {
  try {
    const { text, factor } = said()
    // An answer without a word is one: its prompt was read.
    return text === '' && error !== null ? null : await estimateUsage(countTokens, request, text, factor)
  } catch (error) {
    if (error instanceof RangeError || isFileGone(error) || isOutOfFiles(error)) return null
    throw error
  }
}
