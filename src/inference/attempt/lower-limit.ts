import type { ModelLimits } from '../api/answer-limit.ts'
import type { WholeReply } from '../relay/exchange.ts'
import { reasonIn } from './request-form.ts'

/** Statuses by which upstreams refuse a limit: as invalid, as more than is paid for, as too large. */
const REFUSALS: ReadonlySet<number> = new Set([400, 402, 413])
/** Wordings about the limit of an answer. */
const ABOUT_LIMIT =
  /max_?(?:completion_|output_|new_)?tokens|maxoutputtokens|context (?:length|limit|window)|(?:output|completion) tokens|tokens per minute|afford/i
const ABOUT_CONTEXT = /context (?:length|limit|window)/i
/** Wordings about a limit of the moment, which says nothing about later calls. */
const OF_THE_MOMENT = /per minute|afford/i
/** Whole numbers that are no part of a name: `200000`, but not the date in `claude-sonnet-4-20250514`. */
const NUMBERS = /(?<![\w.-])\d[\d,]*(?![\w-])/g
/** Groq's wording about the tokens of prompt and answer together. */
const BOTH = /limit (\d+), requested (\d+)/i
/** Accepted by almost all models: tried when an error names no limit. */
const ACCEPTED = 4096

/** A lower limit, after an upstream has refused one. */
export interface LoweredLimit {
  limit: number
  /** Limits of the model that the error names. Null when it is about this call alone. */
  learned: Partial<ModelLimits> | null
}

/**
 * Finds the limit to try after an upstream refused the one that Gazeway sent.
 *
 * @param sent the refused limit
 * @returns null when the error is about something else, or no lower limit exists
 * @example
 * import type { WholeReply } from '../relay/exchange.ts'
 *
 * // max_tokens is too large: 100000. This model supports at most 16384 completion tokens.
 * declare const reply: WholeReply
 * lowerLimit(reply, 100_000) // { limit: 16384, learned: { maxOutput: 16384 } }
 */
export function lowerLimit(reply: WholeReply, sent: number): LoweredLimit | null {
  if (!REFUSALS.has(reply.status)) return null
  const reason = reasonIn(reply)
  if (!ABOUT_LIMIT.test(reason)) return null
  const [, most, asked] = (BOTH.exec(reason) ?? []).map(Number)
  if (most !== undefined && asked !== undefined) return lowered(sent - (asked - most), sent, null)
  const named = [...reason.matchAll(NUMBERS)].map(([text]) => Number(text.replaceAll(',', '')))
  // What was asked for: the limit itself, and its sum with the prompt.
  const others = named.filter((one) => one !== sent && !named.includes(one - sent))
  if (others.length === 0) return lowered(Math.min(ACCEPTED, Math.floor(sent / 2)), sent, 'maxOutput')
  const [least, largest] = [Math.min(...others), Math.max(...others)]
  if (least === largest) return lowered(largest, sent, OF_THE_MOMENT.test(reason) ? null : 'maxOutput')
  // A context and the prompt in it, or a range whose end is excluded.
  const limit = largest - least
  if (!ABOUT_CONTEXT.test(reason)) return lowered(limit, sent, 'maxOutput')
  return limit > 0 && limit < sent ? { limit, learned: { context: largest } } : null
}

function lowered(limit: number, sent: number, learns: 'maxOutput' | null): LoweredLimit | null {
  if (limit <= 0 || limit >= sent) return null
  return { limit, learned: learns && { [learns]: limit } }
}
