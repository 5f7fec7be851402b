import { isFileGone, isOutOfFiles } from '../../errors.ts'
import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { usageField } from '../../providers/usage-field.ts'
import { estimateUsage } from './estimate.ts'
import type { Generated } from './generated-text.ts'
import { type ReportedTerms, readTerms } from './reported-terms.ts'
import type { SseTap } from './sse-tap.ts'

/** Observations of an answer on its way to the client. */
export interface Observed {
  /** Last usage that the upstream reported. */
  usage: Usage | null
  /** Usage of the prompt, reported before the answer. */
  promptUsage?: (() => Usage | null) | undefined
  /** Tells whether more was generated after the usage was reported, as in a stream that was cut off. */
  isOutdated?: (() => boolean) | undefined
  /** Text to count when no usage was reported. Null to count nothing. */
  generated: (() => Generated) | null
  /** Answer to store when content is stored. Defaults to the text of `generated`. */
  answer?: unknown
  /** Terms of the price that the reply states. Null or absent when it says nothing. */
  terms?: ReportedTerms | null
  /** Ids that the upstream gave to objects that the call created. */
  made?: readonly string[] | undefined
}

/** Usage of an answer that cannot be counted. The call then costs its whole reservation. */
export const UNCOUNTED: Usage = Object.freeze({
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  estimated: true,
})

/** Usage of an answer that was not seen. */
export const UNSEEN: Usage = Object.freeze({ ...UNCOUNTED })

/** Observation of a call without an answer. */
export const NOTHING: Observed = { usage: null, generated: null }

/** Observations of a stream. */
export const observedStream = (tap: SseTap): Observed => ({
  usage: tap.usage(),
  promptUsage: tap.promptUsage,
  terms: tap.terms(),
  isOutdated: tap.isOutdated,
  generated: tap.generated,
})

/**
 * Selects the usage of an answer; null when it must be counted. A stream that was cut off is counted if its usage was
 * reported earlier. Otherwise the text after the report would be free. So is a stream that has text, and usage of the
 * prompt alone.
 */
export function usageOf({ usage, isOutdated, generated }: Observed, error: Error | null): Usage | null {
  // Only a stream can be outdated.
  if (usage === null || isOutdated === undefined) return usage
  if (error !== null && isOutdated()) return null
  return usage.completion_tokens === 0 && generated?.().text ? null : usage
}

/** Observations of a reply without an answer, such as an error. */
export function observedError(reply: unknown): Observed {
  const usage = usageField(reply)
  return { usage: readUsage(usage), terms: readTerms(reply, usage), generated: null }
}

/** Observations of a whole answer. `generated` is the part that the model wrote. */
export function observedWhole(answer: object, generated: unknown): Observed {
  const { usage, terms = null } = observedError(answer)
  return { usage, terms, generated: () => ({ text: JSON.stringify(generated), factor: 1 }), answer }
}

/**
 * Estimates usage that was not reported. Null when an answer failed before any text. {@link UNCOUNTED} when:
 * - the answer is nested too deeply to be serialized;
 * - the tokenizer is missing, as after an upgrade, or no file can be opened.
 *
 * The client has the answer and the call is recorded in these cases as well.
 */
export async function countUsage(
  countTokens: (text: string) => Promise<number>,
  request: unknown,
  generated: () => Generated,
  error: Error | null,
  promptUsage: Usage | null = null,
): Promise<Usage | null> {
  try {
    const { text, factor } = generated()
    // An empty answer counts: its prompt was read.
    if (text === '' && error !== null) return null
    return withPrompt(promptUsage, await estimateUsage(countTokens, request, text, factor))
  } catch (error) {
    if (error instanceof RangeError || isFileGone(error) || isOutOfFiles(error)) return UNCOUNTED
    throw error
  }
}

/** Usage with the prompt that was reported, and the estimated answer. */
function withPrompt(prompt: Usage | null, { completion_tokens, ...estimated }: Usage): Usage {
  if (prompt === null) return { ...estimated, completion_tokens }
  const completion = Math.max(completion_tokens, prompt.completion_tokens)
  const total = prompt.prompt_tokens + completion
  return { ...prompt, completion_tokens: completion, total_tokens: total, estimated: true }
}
