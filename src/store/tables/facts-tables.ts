/** A mend that a model of an upstream needs, as one key has met it. `key_id` is empty for tools of the machine. */
export interface ModelFactRow {
  upstream: string
  /** Id at the upstream. Empty for its default. */
  model: string
  name: string
  key_id: string
  met_at: string
}

export interface FactTables {
  model_facts: ModelFactRow
}
