import type { Refusal } from './mend.ts'

/** Statuses by which upstreams refuse a limit: as invalid, as more than is paid for, as too large. */
const REFUSALS: ReadonlySet<number> = new Set([400, 402, 413])
/** Wordings about the limit of an answer. */
const ABOUT_LIMIT =
  /max_?(?:completion_|output_|new_)?tokens|maxoutputtokens|context (?:length|limit|window)|(?:output|completion) tokens|tokens per minute|afford/i
/** Whole numbers that are no part of a name: `200000`, but not the date in `claude-sonnet-4-20250514`. */
const NUMBERS = /(?<![\w.-])\d[\d,]*(?![\w-])/g
/** Groq's wording about the tokens of prompt and answer together. */
const BOTH = /limit (\d+), requested (\d+)/i
/** Accepted by almost all models: tried when an error names no limit. */
const ACCEPTED = 4096

/**
 * Finds the limit to try after an upstream refused the one that Gazeway sent.
 *
 * @param sent the refused limit
 * @returns null when the error is about something else, or no lower limit exists
 * @example
 * const message = 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'
 * lowerLimit({ status: 400, message, isAsSuch: false, field: null }, 100_000) // 16384
 */
export function lowerLimit({ status, message }: Refusal, sent: number): number | null {
  if (!REFUSALS.has(status) || !ABOUT_LIMIT.test(message)) return null
  const [, most, asked] = (BOTH.exec(message) ?? []).map(Number)
  if (most !== undefined && asked !== undefined) return lowered(sent - (asked - most), sent)
  const named = [...message.matchAll(NUMBERS)].map(([text]) => Number(text.replaceAll(',', '')))
  // What was asked for: the limit itself, and its sum with the prompt.
  const others = named.filter((one) => one !== sent && !named.includes(one - sent))
  if (others.length === 0) return lowered(Math.min(ACCEPTED, Math.floor(sent / 2)), sent)
  const [least, largest] = [Math.min(...others), Math.max(...others)]
  // A context and the prompt in it, or a range whose end is excluded.
  return lowered(least === largest ? largest : largest - least, sent)
}

const lowered = (limit: number, sent: number): number | null => (limit <= 0 || limit >= sent ? null : limit)
