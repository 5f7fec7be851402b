/**
 * One gaze session: its task, its running totals and the head of its hash chain. `pruned` of its `records` are deleted.
 * `caller_id` is the key that created it; null for a tool on this machine. `sketch` is the way of its newest records, see
 * `sketchOf`.
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
  sketch: string | null
}

/**
 * One gaze record. `tensor` is the complete record as JSON; the other columns repeat the parts that are searched and
 * scored.
 *
 * - `seq`: position in the session, from 1
 * - `at`: start, from the client; `stored_at`: time of arrival
 * - `tick`: time by which it is assessed, in Unix ms; null for a raw sample beside another one
 * - `copied`: 1 when another session stored the same content, shape or trace before
 * - `caller_id`: that of its session
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
  confidence: number | null
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

/** A trace of fixations by its hash: the session that stored it first, its start, and its steps as JSON. */
export interface GazeTraceRow {
  hash: string
  session_id: string
  at: string
  steps: string
}

/** Attention summed by hour and place. Lines are 0 when the records name none. */
export interface GazeDwellRow {
  hour: string
  path: string
  line_start: number
  line_end: number
  dwell_ms: number
  visits: number
  last_seen_at: string
}

/** One issued attestation; `body` is the complete attestation as JSON. */
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
 * Use of an attestation, at most once. It consumes the first `records` of its session. `session_id` and `records` are
 * null for uses that were recorded before these were stored.
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
