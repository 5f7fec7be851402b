/**
 * One upstream call. Token counts are null when the usage is unknown. `content` is JSON; null unless
 * `audit.store_content`.
 */
export interface CallRow {
  call_id: string
  at: string
  surface: string
  caller_id: string | null
  /** Address of the client. Null for tools on this machine. */
  address: string | null
  path: string
  /** Empty where it is `model`. */
  requested_model: string | null
  model: string | null
  upstream: string
  stream: number
  status: string
  http_status: number | null
  fallback_from: string | null
  /** Candidates passed over, as JSON. Null for none. */
  skipped: string | null
  latency_ms: number
  latency_bucket: number
  first_token_ms: number | null
  /** Times beside them, see `CallTiming`. Null for calls of before. */
  queue_ms: number | null
  first_byte_ms: number | null
  first_thought_ms: number | null
  first_text_ms: number | null
  prompt_tokens: number | null
  completion_tokens: number | null
  total_tokens: number | null
  cached_tokens: number | null
  cache_write_tokens: number | null
  /** Effect of the prompt cache, see `CallCache`. 0 and null for calls of before. */
  cache_saved_micros: number
  cache_missed_tokens: number
  cache_missed_micros: number
  cache_changed: string | null
  usage_estimated: number
  upstream_cost_micros: number
  /** Origin of the cost. Null for unknown usage, and for calls of before. */
  price_from: string | null
  /** The provider's id of its key. Null where none is known. */
  provider_key: string | null
  /** Number of its session, whose row has the words and the first client. Null without one, and for traces. */
  session: number | null
  /** Session in the client's words, see `CallSession`. Null where it says nothing, and where `session` names it. */
  session_id: string | null
  thread_id: string | null
  parent_id: string | null
  turn_id: string | null
  kind: string | null
  /** Client. Null for that of its `session`, empty for none beside one. */
  client: string | null
  client_version: string | null
  error: string | null
  /** Changes of the request, as JSON. Null for none. */
  changed: string | null
  content: string | null
}

/** Call counts of the newest hours, one row per combination of dimensions. Later folded into {@link CallSumRow}. */
export interface CallRollupRow {
  hour: string
  model: string
  caller_id: string
  path: string
  status: string
  latency_bucket: number
  calls: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  upstream_cost_micros: number
  /** 0 for calls of before, as the costs of their prompt caches. */
  cached_tokens: number
  cache_write_tokens: number
  cache_saved_micros: number
  cache_missed_tokens: number
  cache_missed_micros: number
}

/**
 * Calls counted by the hour or day that begins at `start`. Statistics read these few rows instead of the history, and
 * stay correct after old calls are pruned. Dimensions that a level merges are empty. `latencies` is a JSON list of each
 * bucket and its calls.
 */
export interface CallSumRow extends Omit<CallRollupRow, 'hour' | 'latency_bucket'> {
  level: CallSumLevel
  start: string
  latencies: string
}

/**
 * Level of a sum. `hour` keeps all dimensions; `hour_of_all` and `day_of_all` merge callers; `day_of_caller` merges
 * models and paths.
 */
export type CallSumLevel = 'hour' | 'hour_of_all' | 'day_of_all' | 'day_of_caller'

/** Number of calls of a kind in the audit trail. */
export interface CallTotalRow {
  model: string
  caller_id: string
  path: string
  status: string
  calls: number
}

/** An id that an upstream gave to an object of a caller: a response, a file, a batch. */
export interface UpstreamObjectRow {
  id: string
  /** Empty for a caller without a key. */
  caller_id: string
  upstream: string
  at: string
}

export interface CallTables {
  calls: CallRow
  call_rollups: CallRollupRow
  call_sums: CallSumRow
  call_totals: CallTotalRow
  upstream_objects: UpstreamObjectRow
}
