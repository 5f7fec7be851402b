import type { Generated } from 'kysely'

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
 * Neighbouring records of one session, by `seq`, in one row. `body` holds them all, see `src/gaze/record-pack.ts`.
 *
 * - `first_seq`, `last_seq`: positions in the session, from 1
 * - `from_at`, `to_at`: earliest and latest start of a record; at most an hour apart
 */
export interface GazePackRow {
  session_id: string
  first_seq: number
  last_seq: number
  from_at: string
  to_at: string
  body: Uint8Array
}

/** The records of a pack with one path ('' for none) and one source: their number and times. The index of searches. */
export interface GazeStretchRow {
  number: Generated<number>
  session_id: string
  first_seq: number
  path: string
  source: string
  caller_id: string | null
  from_at: string
  to_at: string
  records: number
}

/**
 * Hashes of a record's content and shape, 0 to 2^52, and of the session that stored them first. A row that holds a shape
 * alone has its negative as `content`, since other rows may have the content.
 */
export interface GazePrintRow {
  content: number
  shape: number | null
  session: number
}

/**
 * A trace of fixations by its hash: the session that stored it first, by its hash, the hour in which it began, counted
 * from 1970, and its steps.
 */
export interface GazeTraceRow {
  hash: number
  session: number
  hour: number
  steps: Uint8Array
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
  gaze_packs: GazePackRow
  gaze_stretches: GazeStretchRow
  gaze_prints: GazePrintRow
  gaze_traces: GazeTraceRow
  gaze_dwell: GazeDwellRow
  attestations: AttestationRow
  attestation_uses: AttestationUseRow
}
