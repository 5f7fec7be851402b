/**
 * One gaze session: its task, its running figures and the head of its hash chain. Of its `records`, `pruned` are gone.
 * `caller_id` is the key that made it; null where that was a tool on this machine.
 */
export interface GazeSessionRow {
  session_id: string
  task_id: string | null
  records: number
  pruned: number
  chain_head: string
  last_place: string | null
  created_at: string
  updated_at: string
  caller_id: string | null
}

/**
 * One gaze record. `tensor` is JSON and whole; the columns beside it repeat what is searched and scored. `seq` counts from 1
 * in each session. `at` is when the client says that it began, `stored_at` when it arrived. `tick` is the time by which it is
 * assessed, in Unix ms; null for a raw sample beside another one. `copied` is 1 when another session had the same content,
 * shape or trace before. `caller_id` is its session's.
 */
export interface GazeRecordRow {
  id: string
  session_id: string
  seq: number
  task_id: string | null
  at: string
  stored_at: string
  dwell_ms: number
  source: string
  confidence: number
  x: number | null
  y: number | null
  path: string | null
  tensor: string
  hash: string
  content_hash: string
  shape_hash: string | null
  tick: number | null
  copied: number
  caller_id: string | null
}

/** The hash of a record's content or shape, and the session that stored it first. */
export interface GazePrintRow {
  hash: string
  session_id: string
}

/** A trace of fixations by its hash, the session that stored it first, when it began, and its steps as JSON. */
export interface GazeTraceRow {
  hash: string
  session_id: string
  at: string
  steps: string
}

/** Attention summed by hour and place. Lines are 0 where the records named none. */
export interface GazeDwellRow {
  hour: string
  path: string
  line_start: number
  line_end: number
  dwell_ms: number
  visits: number
  last_seen_at: string
}

/** One issued attestation; `body` is all of it as JSON. */
export interface AttestationRow {
  id: string
  session_id: string
  task_id: string | null
  status: string
  poa_score: number
  issued_at: string
  expires_at: string
  body: string
}

/**
 * Use of an attestation; each is used at most once. It consumes the first `records` of its session. Both are null for
 * uses recorded before that was tracked.
 */
export interface AttestationUseRow {
  attestation_id: string
  session_id: string | null
  records: number | null
  used_by: string
  used_at: string
}

export interface GazeTables {
  gaze_sessions: GazeSessionRow
  gaze_records: GazeRecordRow
  gaze_prints: GazePrintRow
  gaze_traces: GazeTraceRow
  gaze_dwell: GazeDwellRow
  attestations: AttestationRow
  attestation_uses: AttestationUseRow
}
