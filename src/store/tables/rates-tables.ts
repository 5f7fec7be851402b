/** Recent use of a key with rate limits, by all processes. `state` is the JSON of a `SharedWindow`. */
export interface RateWindowRow {
  key_id: string
  state: string
}

export interface RateTables {
  rate_windows: RateWindowRow
}
