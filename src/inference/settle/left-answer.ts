import type { Usage } from '../../providers/token-usage.ts'
import type { Micros } from '../../text/money.ts'
import type { Generated } from '../observe/generated-text.ts'
import { countUsage, UNCOUNTED } from '../observe/observe.ts'
import { createOutputRates, type OutputRates } from '../observe/output-rates.ts'
import { createLateReads, type LateReads, type LateReceiver } from '../relay/late-reads.ts'
import type { Provider } from '../upstreams/provider.ts'
import { statedLater } from './stated-later.ts'

/** Terms on which answers are read, and priced, whose clients have left. */
export interface LateTerms {
  reads: LateReads
  rates: OutputRates
  /** Time for the usage to come where closing a connection stops the provider's bill, in milliseconds. */
  readOnMs: number
}

/** Creates the terms of a process, which may get another `readOnMs`. */
export const createLateTerms = (readOnMs: number): LateTerms => ({
  reads: createLateReads(),
  rates: createOutputRates(),
  readOnMs,
})

/** Tokens that the provider may have charged beyond what the client received: reasoning that was hidden from it. */
export interface Unseen {
  tokens: number
  /** `Infinity` when nothing is known: the call then costs its whole reservation. */
  micros: Micros
}

/** Approximate bytes per token of ordinary text. */
const BYTES_PER_TOKEN = 4

export const NOTHING_UNSEEN: Unseen = { tokens: 0, micros: 0 }
const UNKNOWN: Unseen = { tokens: 0, micros: Infinity }

/** Cost of an answer whose client has left. */
export interface LeftCost {
  /** Usage that the provider stated later, else of the prompt and what was seen. */
  usage: Usage | null
  unseen: Unseen
  /** Cost that the provider stated later. Null when it did not. */
  statedMicros: Micros | null
  /** True when the client received text, or the cost is stated. Who received nothing pays nothing. */
  isPaidFor: boolean
}

/** An answer that was ended before its usage came, because its client had left. */
export interface LeftAnswer {
  late: LateReceiver
  provider: Provider
  request: unknown
  stream: boolean
  /** Text that was received. */
  generated: (() => Generated) | null
  /** Usage of the prompt, if it was reported. */
  promptUsage: Usage | null
  /** The provider's id of the answer. Null when it states no costs later. */
  generationId: string | null
  /** Time of the first event, or of the request when none came, by the monotonic clock. */
  begunAt: number
  /** Name of the model among the {@link OutputRates}. */
  rateKey: string
  /** True when reasoning that is shown may be a summary of longer one. */
  isSummarised: boolean
  costOf(usage: Usage | null): Micros
}

/**
 * Estimates what an answer has cost whose client left: its prompt, what was seen, and what the model may have generated
 * before the first text, at its own rate. Asks the provider where it states the cost later.
 */
export async function costOfLeft(
  { rates }: LateTerms,
  countTokens: (text: string) => Promise<number>,
  {
    late,
    provider,
    request,
    stream,
    generated,
    promptUsage,
    generationId,
    begunAt,
    rateKey,
    isSummarised,
    costOf,
  }: LeftAnswer,
): Promise<LeftCost> {
  const endedAt = performance.now()
  const none = { usage: null, unseen: NOTHING_UNSEEN, statedMicros: null, isPaidFor: false }
  if (!late.isSent()) return none
  const stated = generationId === null ? null : await statedLater(provider, generationId)
  if (stated !== null) return { ...none, usage: stated.usage, statedMicros: stated.costMicros, isPaidFor: true }
  const text = generated ?? (() => ({ text: '', factor: 1 }))
  const usage = await countUsage(countTokens, request, text, null, promptUsage)
  const firstTextAt = late.firstTextAt()
  const isPaidFor = firstTextAt !== null
  const isUnknown = usage === null || usage === UNCOUNTED || late.isUnread() || !stream
  if (isUnknown) return { ...none, usage: usage === UNCOUNTED ? null : usage, unseen: UNKNOWN, isPaidFor }
  const { untilAt, bytes } = isSummarised ? late.thought() : { untilAt: firstTextAt, bytes: 0 }
  const shown = Math.ceil(bytes / BYTES_PER_TOKEN)
  const tokens = Math.max(0, rates.tokensIn(rateKey, (untilAt ?? endedAt) - begunAt) - shown)
  const micros = costOf(withMore(usage, tokens)) - (isPaidFor ? costOf(usage) : 0)
  return { ...none, usage, unseen: { tokens, micros }, isPaidFor }
}

/** Adds tokens to the answer of a usage. */
export const withMore = (usage: Usage, tokens: number): Usage => ({
  ...usage,
  completion_tokens: usage.completion_tokens + tokens,
  total_tokens: usage.total_tokens + tokens,
})
