import type { Period } from '../../text/period.ts'

/**
 * One API key, without its secret. `hash` is the SHA-256 of the whole token, in hex. `scopes` and `models` are JSON.
 * `lenient` is 1 for a key whose requests lose what an upstream cannot express, and 0 for all others.
 * `cache` is `off` for a key whose requests get no marks and keys for caches from Gazeway, else `auto`.
 * `first` is 1 for the key that was created at the first start, and null for all others. Until `previous_until`, the
 * token with `previous_hash` is valid as well.
 */
export interface KeyRow {
  id: string
  name: string
  hash: string
  scopes: string
  group_id: string | null
  wallet: string | null
  billing: 'recorded' | 'cost' | 'metered'
  credit_limit_micros: number | null
  requests_per_minute: number | null
  tokens_per_minute: number | null
  concurrent: number | null
  models: string | null
  lenient: number
  cache: 'auto' | 'off'
  first: number | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  rotated_at: string | null
  previous_hash: string | null
  previous_until: string | null
  revoked_at: string | null
}

/** One budget of a key or a group; `owner` is its id. */
export interface BudgetRow {
  owner: string
  per: Period
  micros: number
}

/** An alert: `owner` is the id of a key or group, `percent` the share of its budgets at which it is sent. */
export interface AlertRow {
  owner: string
  percent: number
}

/** Keys that share budgets. */
export interface KeyGroupRow {
  id: string
  name: string
  created_at: string
}

export interface KeyTables {
  keys: KeyRow
  budgets: BudgetRow
  alerts: AlertRow
  key_groups: KeyGroupRow
}
