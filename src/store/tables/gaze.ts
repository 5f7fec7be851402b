/** One gaze session: its task, its running figures and the head of its hash chain. Of its `records`, `pruned` are gone. */
export interface GazeSessionRow {
  session_id: string
  task_id: string | null
  records: number
  pruned: number
  chain_head: string
  last_place: string | null
  created_at: string
  updated_at: string
}

/**
 * One gaze record. `tensor` is JSON and whole; the columns beside it repeat what is searched and scored. `seq` counts from 1
 * in each session. `copied` is 1 when another session had the same content or shape before.
 */
export interface GazeRecordRow {
  id: string
  session_id: string
  seq: number
  task_id: string | null
  at: string
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
  copied: number
}

/** The hash of a record's content or shape, and the session that stored it first. */
export interface GazePrintRow {
  hash: string
  session_id: string
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

export interface GazeTables {
  gaze_sessions: GazeSessionRow
  gaze_records: GazeRecordRow
  gaze_prints: GazePrintRow
  gaze_dwell: GazeDwellRow
  attestations: AttestationRow
}
