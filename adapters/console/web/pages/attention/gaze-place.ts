/** One gaze record as it is sent. */
export interface Tensor {
  /** RFC 3339. */
  at: string
  dwell_ms: number
  source: 'eye_tracker' | 'webcam' | 'ide' | 'pointer' | 'manual'
  confidence: number
  cog: { focus: number; load: number }
  emo: { valence: number; arousal: number }
  env: {
    path?: string
    line_start?: number
    line_end?: number
    url?: string
    app?: string
    x?: number
    y?: number
    distraction?: number
  }
}

/** One gaze record as it is stored. */
export interface GazeRecord extends Tensor {
  id: string
  session_id: string
  task_id: string | null
  seq: number
}

/** How far a session proves attention. */
export interface Attestation {
  id: string
  session_id: string
  task_id: string | null
  status: 'collecting' | 'passed' | 'failed'
  poa_score: number
  components: Record<'coverage' | 'continuity' | 'plausibility' | 'confidence' | 'freshness', number>
  replayed: boolean
  reasons: string[]
  records: number
  records_needed: number
  progress: number
  chain_head: string
  issued_at: string
  expires_at: string
}

/** A gaze session in the list. */
export interface GazeSession {
  session_id: string
  task_id: string | null
  caller_id: string | null
  records: number
  created_at: string
  updated_at: string
  attestation: Pick<Attestation, 'id' | 'status' | 'poa_score' | 'issued_at' | 'expires_at'> | null
}

/** What an analysis answers. */
export interface Explained {
  metrics: {
    records: number
    duration_ms: number
    fixations: { count: number; mean_ms: number | null; median_ms: number | null }
    saccades: { count: number; mean_amplitude: number | null }
    dwell_by_place: { path: string; dwell_ms: number; share: number; visits: number }[]
    transitions: { count: number; entropy_bits: number }
    focus: { mean: number | null; trend_per_min: number | null }
    load: { mean: number | null; trend_per_min: number | null }
    valence: { mean: number | null }
    arousal: { mean: number | null }
  }
  classification: { dominant: 'COG' | 'EMO' | 'ENV'; cog: number; emo: number; env: number }
  tensor: string
  findings: { kind: string; severity: 'info' | 'notice' | 'warning'; text: string }[]
  truncated: boolean
  narrative: string | null
  call_id: string | null
  narrative_error: string | null
}

/** The place that a record was on: a file, an address or a program. */
export const placeOf = ({ env }: Pick<Tensor, 'env'>): string => env.path ?? env.url ?? env.app ?? 'no place named'
