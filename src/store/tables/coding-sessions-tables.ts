import type { Generated } from 'kysely'

/** Sums over the calls of one session of a key, as `CallSession` names it. Kept up to date with each batch of calls. */
export interface CodingSessionRow {
  /** Key or wallet of its calls. Empty for calls without one. */
  caller_id: string
  session_id: string
  client: string | null
  client_version: string | null
  started_at: string
  /** End of its last call. */
  last_at: string
  /** 0 for a session of which only facts are known. */
  calls: number
  errors: number
  refused: number
  /** Calls that another call had led to: retries and fallbacks. */
  retries: number
  turns: number
  /** First and last turn of the newest batch, so that a turn in two batches counts once. Null without turns. */
  first_turn: string | null
  last_turn: string | null
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  upstream_cost_micros: number
  cached_tokens: number
  cache_write_tokens: number
  cache_saved_micros: number
  cache_missed_tokens: number
  cache_missed_micros: number
  /** Client of its first call that names it by number, for all that are of the same. Never changes. */
  first_client: string | null
  first_client_version: string | null
}

/** Facts of a session in a range of time. A call belongs to the range that holds the time at which it began. */
export interface SessionFactRow {
  caller_id: string
  session_id: string
  /** Inclusive. The first range of a session reaches back to the first time that can be stored. */
  from_at: string
  /** Exclusive. Null for the present range. */
  until_at: string | null
  /** Remote without credentials, as `host/owner/name`, or `root:SHA`. */
  repository: string | null
  branch: string | null
  commit_sha: string | null
  dirty: number | null
  /** Folder, only where its machine sends it. */
  path: string | null
}

/** A commit that was made during a session. */
export interface SessionCommitRow {
  caller_id: string
  session_id: string
  sha: string
  at: string
  subject: string | null
  repository: string | null
  branch: string | null
}

/** A tag of a call. Calls without tags have no row. */
export interface CallTagRow {
  call_id: string
  tag: string
}

export interface CodingSessionTables {
  /** `number` names it in its calls. */
  coding_sessions: CodingSessionRow & { number: Generated<number> }
  session_facts: SessionFactRow
  session_commits: SessionCommitRow
  call_tags: CallTagRow
}
