/** Limits of each session of a key, or of each key of a group; `owner` is its id. Null for no limit. */
export interface SessionLimitsRow {
  owner: string
  micros: number | null
  calls: number | null
  minutes: number | null
  /** Most times that the same may be asked within `repeat_minutes`; both are null or neither. */
  repeat_times: number | null
  repeat_minutes: number | null
}

/** State of a session of a coding agent that has limits, or that an admin has stopped, resumed or raised. */
export interface SessionStateRow {
  caller_id: string
  session_id: string
  started_at: string
  /** Last use that was noted. Sessions without a stop are forgotten some time after it. */
  seen_at: string
  /** Calls that count in its limit of calls. */
  calls: number
  /** Added by admins to the limits of its key and group. */
  raised_micros: number
  raised_calls: number
  raised_minutes: number
  stopped_at: string | null
  stopped_by: string | null
  /** Last change by an admin. */
  changed_at: string | null
}

export interface SessionLimitTables {
  session_limits: SessionLimitsRow
  session_states: SessionStateRow
}
