/**
 * One API key, without its secret: `hash` is the SHA-256 of the whole token, in hex. `scopes` is JSON. `first` is 1 for
 * the key that was made by itself at the first start, null for all others.
 */
export interface KeyRow {
  id: string
  name: string
  hash: string
  scopes: string
  wallet: string | null
  credit_limit_micros: number | null
  daily_limit_micros: number | null
  first: number | null
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}

export interface KeyTables {
  keys: KeyRow
}
