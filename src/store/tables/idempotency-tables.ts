/**
 * One idempotency key of one caller. While `attempt` runs, `in_flight_until` is a time. Afterwards it is null, and
 * `status`, `headers` (JSON) and `body` are the reply. `body` is null when the reply is not kept.
 */
export interface IdempotencyKeyRow {
  scope: string
  key: string
  fingerprint: string
  attempt: string
  in_flight_until: string | null
  status: number | null
  headers: string | null
  body: string | null
  expires_at: string
}

export interface IdempotencyTables {
  idempotency_keys: IdempotencyKeyRow
}
