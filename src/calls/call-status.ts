/** One status of a call, and how the call counts. */
interface StatusRecord {
  /** Kind in statistics, metrics and traces. Null for a call that is counted as a call only. */
  counts: 'answer' | 'error' | 'refusal' | null
  /** True when another candidate answered first: the cost is unknown, and the other call is not a fallback. */
  isOvertaken: boolean
  /** Colour in the console. */
  tone: 'good' | 'warn' | 'bad' | 'neutral'
}

/**
 * Outcomes of a call:
 * - `aborted`: the client cancelled or disconnected.
 * - `hedged`: another candidate was tried beside it and answered first.
 * - `refused`: no upstream was called, because of the caller's key, money, permissions or limits.
 */
export const CALL_STATUSES = {
  ok: { counts: 'answer', isOvertaken: false, tone: 'good' },
  error: { counts: 'error', isOvertaken: false, tone: 'bad' },
  aborted: { counts: null, isOvertaken: false, tone: 'warn' },
  hedged: { counts: null, isOvertaken: true, tone: 'neutral' },
  refused: { counts: 'refusal', isOvertaken: false, tone: 'warn' },
} as const satisfies Readonly<Record<string, StatusRecord>>

/** Outcome of a call. */
export type CallStatus = keyof typeof CALL_STATUSES

/** All outcomes. */
export const CALL_STATUS_NAMES = Object.keys(CALL_STATUSES) as readonly CallStatus[]

/** Status of refusals without a record in the sums. Lists of records leave it out. */
export const UNLISTED = 'refused_unlisted'
/** The status that {@link UNLISTED} is shown as. */
export const UNLISTED_AS: CallStatus = 'refused'

/** Record of a stored status. */
export const statusOf = (stored: string): StatusRecord =>
  CALL_STATUSES[stored === UNLISTED ? UNLISTED_AS : (stored as CallStatus)]
