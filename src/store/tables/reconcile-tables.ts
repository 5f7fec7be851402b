/**
 * Bill of one UTC day for one of a provider's keys and models, kept because the provider forgets it after 30
 * days. `key` is the provider's id of the key; empty for the account's other keys. A row without a model marks that the
 * day was read.
 */
export interface BilledActivityRow {
  upstream: string
  day: string
  key: string
  model: string
  micros: number
  requests: number
  prompt_tokens: number
  completion_tokens: number
  read_at: string
}

export interface ReconcileTables {
  billed_activity: BilledActivityRow
}
