import type { Fields } from '../../text/typed-reader.ts'
import { ANSWER_LIMITS, limitsAt } from '../api/answer-limit.ts'
import { INPUT_ALONE } from '../api/verbatim-paths.ts'

/** Number of answers to a request, and the token limit of each: that of the client, or the one assumed without it. */
export function longestAnswers(
  { maxOutputTokens }: { maxOutputTokens: number },
  endpoint: string,
  json: Fields,
): { limit: number; answers: number } {
  if (endpoint === SPEECH) return { limit: Math.max(maxOutputTokens, spokenTokens(json)), answers: 1 }
  const known = limitsAt(endpoint)
  // On an unknown endpoint, the limit sent may be ignored.
  const limit =
    known.length > 0
      ? (largestOf(known, json) ?? maxOutputTokens)
      : Math.max(maxOutputTokens, largestOf(ANSWER_LIMITS, json) ?? 0)
  return { limit, answers: INPUT_ALONE.has(endpoint) ? 0 : choicesOf(json) * promptsOf(json) }
}

export const SPEECH = '/audio/speech'
/** Tokens of speech for each byte of its text, spoken slowly: 20 a second (OpenAI), and 5 letters. */
const SPOKEN_PER_BYTE = 4
/** Slowest speed that providers offer. */
const SLOWEST = 0.25

/** Most tokens of a text that is read aloud. Its answer has no limit, and most tell no usage. */
function spokenTokens({ input, speed }: Fields): number {
  const bytes = Buffer.byteLength(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''))
  const slow = typeof speed === 'number' ? Math.min(1, Math.max(SLOWEST, speed)) : 1
  return Math.ceil((bytes * SPOKEN_PER_BYTE) / slow)
}

/** Tells whether a client leaves the length of an answer open, at an endpoint that limits it. */
export const isOpen = (endpoint: string, json: Fields): boolean =>
  limitsAt(endpoint).length > 0 && largestOf(limitsAt(endpoint), json) === null

/** Largest token limit in a request. Null without one. */
export function largestOf(names: readonly string[], json: Fields): number | null {
  const named = names.map((name) => json[name]).filter((value) => typeof value === 'number' && value > 0)
  return named.length === 0 ? null : Math.max(...(named as number[]))
}

/** Number of choices, or of images, that a request asks for with each prompt. */
export const choicesOf = (json: Fields): number => largestOf(['n', 'best_of'], json) ?? 1

/** Number of prompts of a legacy completion, each with its own answers. A list of tokens is one prompt. */
function promptsOf({ prompt }: Fields): number {
  const several = Array.isArray(prompt) ? prompt.filter((one) => typeof one !== 'number').length : 1
  return Math.max(1, several)
}
