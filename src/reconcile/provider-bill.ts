import type { Billed } from './decimal.ts'

/** Tokens and requests, as far as the provider counts them. */
export interface Counts {
  requests: number
  prompt_tokens: number
  completion_tokens: number
}

/** Line of a bill: one UTC day, one key of the provider and one model. */
export interface BillLine extends Counts {
  day: string
  /** The provider's id of the key. Null where it names none. */
  key: string | null
  /** Null for fees that belong to no model. */
  model: string | null
  /** Name of a fee that is not for tokens. Null for tokens. */
  fee: string | null
  amount: Billed
}

/** A key of the provider's account. `isOurs`: the configuration has it; null when unknown. */
export interface BilledKey {
  id: string
  name: string | null
  isOurs: boolean | null
}

/** The bill of an account. */
export interface Bill {
  /** Origin of the figures, for the reader. */
  source: string
  /** Tells whether lines name their keys: only then calls past Gazeway are known. */
  isByKey: boolean
  lines: readonly BillLine[]
  keys: readonly BilledKey[]
  /** Facts that the reader has to know. */
  notes: readonly string[]
}

/** Period whose bill is read. Days are UTC; `to` is exclusive, at most the day after today. */
export interface BillPeriod {
  from: Date
  to: Date
}

/** Days of a period, as `2026-10-31`. */
export function daysOf({ from, to }: BillPeriod): string[] {
  const days: string[] = []
  for (let at = from.getTime(); at < to.getTime(); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

export const DAY_MS = 86_400_000

/** Lines that cost nothing, from which sums begin. */
export const NO_COUNTS: Counts = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }

/**
 * Tells whether a key is the one that a hint shows: its beginning and its end, with dots or asterisks between them.
 *
 * @example isHinted('sk-proj-abc…xyz', 'sk-proj-abcdefxyz') // true
 */
export function isHinted(hint: string, key: string): boolean {
  const [start = '', end = ''] = hint.split(/[.*•…]+/)
  return start.length + end.length >= 4 && end !== '' && key.startsWith(start) && key.endsWith(end)
}
