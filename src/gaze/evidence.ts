import { CLOCK_SKEW_MS } from './attestation.ts'

/** Owner and time range of records that prove attention. */
export interface Evidence {
  /** Description of the records in a refusal: `records that the claimant stored between …`. */
  description: string
  /** The key that stored them. */
  callerId: string
  /** RFC 3339 UTC. */
  from: string
  /** RFC 3339 UTC; null is no end. */
  until: string | null
}

/**
 * Tells whether a record belongs to a time range. Clients choose `at`, so the record must also have arrived within the
 * range: otherwise it could be dated at will. Records dated more than a minute after their arrival belong to no range.
 */
export function isOfItsTime(record: { at: string; stored_at: string }, { from, until }: Evidence): boolean {
  const { at, stored_at: storedAt } = record
  if (Date.parse(at) > Date.parse(storedAt) + CLOCK_SKEW_MS) return false
  return [at, storedAt].every((time) => time >= from && (until === null || time <= until))
}
