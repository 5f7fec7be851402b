import { CLOCK_SKEW_MS } from './attestation.ts'

/** Whose records prove attention, and of which time. */
export interface Evidence {
  /** What they are called in a refusal: `records that the claimant stored between …`. */
  told: string
  /** The key that stored them. */
  callerId: string
  /** RFC 3339 UTC. */
  from: string
  /** RFC 3339 UTC; null is no end. */
  until: string | null
}

/**
 * Whether a record is of the time that is asked for. The client dates it, so it must have arrived in that time as well: who
 * looked before, or looks after, could date it as they please. A record that is dated more than a minute after it arrived
 * is of a time that had not come, and of none.
 */
export function isOfItsTime(record: { at: string; stored_at: string }, { from, until }: Evidence): boolean {
  const { at, stored_at: storedAt } = record
  if (Date.parse(at) > Date.parse(storedAt) + CLOCK_SKEW_MS) return false
  return [at, storedAt].every((time) => time >= from && (until === null || time <= until))
}
