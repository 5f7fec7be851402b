/**
 * One idempotency key of one caller. While `attempt` works on it, `in_flight_until` is a time; afterwards it is null and
 * `status`, `headers` (JSON) and `body` are the reply, `body` null where the reply is not kept.
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
