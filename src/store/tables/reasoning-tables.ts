/** A key that seals the reasoning of providers. `secret` is 32 bytes in base64. */
export interface SealKeyRow {
  id: string
  secret: string
  created_at: string
}

/** Sealed reasoning of an answer, by the hash of its caller, upstream, model and tool calls. */
export interface ReasoningStateRow {
  reference: string
  sealed: string
  expires_at: string
}

export interface ReasoningTables {
  seal_keys: SealKeyRow
  reasoning_states: ReasoningStateRow
}
