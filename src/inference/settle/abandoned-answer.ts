import { GazewayError } from '../../errors.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Micros } from '../../text/money.ts'
import { ReportedError } from '../api/reported-error.ts'
import type { Generated } from '../observe/generated-text.ts'
import { countUsage, UNCOUNTED } from '../observe/observe.ts'
import { createOutputRates, type OutputRates } from '../observe/output-rates.ts'
import { createLateReads, type LateReads, type LateReceiver } from '../relay/abandoned-reads.ts'
import type { Provider } from '../upstreams/provider.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { statedLater } from './cost-stated-later.ts'
import { createDetachedAnswers, type DetachedAnswers } from './detached-answer.ts'

/** Terms on which answers are read, and priced, whose clients have left. */
export interface LateTerms {
  reads: LateReads
  rates: OutputRates
  /** Answers in the background that are asked for until they are complete. */
  detached: DetachedAnswers
  /** Time for the usage to come where closing a connection stops the provider's bill, in milliseconds. */
  readOnMs: number
}

/** Creates the terms of a process, which may get another `readOnMs`. */
export const createLateTerms = (readOnMs: number): LateTerms => ({
  reads: createLateReads(),
  rates: createOutputRates(),
  detached: createDetachedAnswers(),
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

/** Cost of an answer whose provider did not tell it in the answer. */
export interface UntoldCost {
  /** Usage that the provider stated later, else of the prompt and what was seen. */
  usage: Usage | null
  unseen: Unseen
  /** Cost that the provider stated later. Null when it did not. */
  statedMicros: Micros | null
  /** True when the client received text, or the cost is stated. Who received nothing pays nothing. */
  isPaidFor: boolean
}

/** An answer that ended before its usage came. */
export interface UntoldAnswer {
  late: LateReceiver
  provider: Provider
  request: unknown
  stream: boolean
  /** Text that was received. */
  generated: (() => Generated) | null
  promptUsage: Usage | null
  /** The provider's id of the answer, by which it states the cost later. Null without one. */
  generationId: string | null
  /** Time of the first event, or of the request when none came, by the monotonic clock. */
  begunAt: number
  /** Name of the model among the {@link OutputRates}. */
  rateKey: string
  /** True when reasoning that is shown may be a summary of longer one. */
  isSummarised: boolean
  /** False when tokens alone do not tell the cost: of images and recordings. */
  isOfText: boolean
  costOf(usage: Usage | null): Micros
}

/** Codes of errors that end an attempt while its provider may be working, and go on. */
const CUT_OFF: ReadonlySet<string> = new Set([
  'upstream_timeout',
  'upstream_unreachable',
  'upstream_bad_reply',
  'cancelled',
  'service_stopping',
])

/**
 * Tells whether the provider of an attempt without usage may bill it all the same: it had the request, and neither
 * refused it nor reported an error. Providers bill what their models have begun, and do not bill their own errors
 * (https://novita.ai/docs/guides/llm-billing, https://openrouter.ai/docs/guides/features/zero-completion-insurance).
 */
export function isUntold(
  { error, httpStatus }: { error: Error | null; httpStatus: number | null },
  late: Pick<LateReceiver, 'isSent' | 'hasLeft' | 'isGone'>,
): boolean {
  const status = (error instanceof GazewayError ? error.upstreamStatus : null) ?? httpStatus ?? 200
  if (!late.isSent() || status >= 300) return false
  if (late.hasLeft() && late.isGone()) return true
  if (!(error instanceof GazewayError) || error.cause instanceof ReportedError) return false
  return CUT_OFF.has(error.code)
}

/**
 * Estimates what an answer has cost that ended before its usage came: its prompt, what was seen, and what the model may
 * have generated before the first text, at its own rate. Asks the provider where it states the cost later.
 */
export async function costOfUntold(
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
    isOfText,
    costOf,
  }: UntoldAnswer,
): Promise<UntoldCost> {
  const endedAt = performance.now()
  const firstTextAt = late.firstTextAt()
  const reason = late.reason?.()
  const isOvertaken = reason instanceof GazewayError && isRaceLost(reason)
  const isPaidFor = firstTextAt !== null && !isOvertaken
  const none = { usage: null, unseen: NOTHING_UNSEEN, statedMicros: null, isPaidFor }
  const stated = generationId === null ? null : await statedLater(provider, generationId)
  if (stated !== null) {
    const isPaid = isPaidFor || (late.hasLeft() && !isOvertaken)
    return { ...none, usage: stated.usage, statedMicros: stated.costMicros, isPaidFor: isPaid }
  }
  const text = generated ?? (() => ({ text: '', factor: 1 }))
  const usage = await countUsage(countTokens, request, text, null, promptUsage)
  const isStopped = stream && (provider.stopsOnClose === true || provider.generations !== null)
  const isEndedHere = late.isGone() && (!stream || (isOvertaken && !isStopped))
  const isDetached = (fieldsOrNone(request).background ?? false) !== false
  const isUncounted = usage === null || usage === UNCOUNTED || !isOfText
  const isUnknown = isUncounted || late.isUnread() || isEndedHere || isDetached
  if (isUnknown) return { ...none, usage: usage === UNCOUNTED ? null : usage, unseen: UNKNOWN }
  const { untilAt, bytes } = isSummarised ? late.thought() : { untilAt: firstTextAt, bytes: 0 }
  const shown = Math.ceil(bytes / BYTES_PER_TOKEN)
  const tokens = Math.max(0, rates.tokensIn(rateKey, (untilAt ?? endedAt) - begunAt) - shown)
  const micros = costOf(withMore(usage, tokens)) - (isPaidFor ? costOf(usage) : 0)
  return { ...none, usage, unseen: { tokens, micros } }
}

/** Adds tokens to the answer of a usage. */
export const withMore = (usage: Usage, tokens: number): Usage => ({
  ...usage,
  completion_tokens: usage.completion_tokens + tokens,
  total_tokens: usage.total_tokens + tokens,
})
