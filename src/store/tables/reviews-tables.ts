/**
 * A review of a change. `change` is JSON with the sides, the digest and the parts; `receipt` is the receipt as JSON, once it is
 * decided. `session_id` is the gaze session of its evidence, `task_id` the task whose result is reviewed.
 */
export interface ReviewRow {
  id: string
  caller_id: string
  session_id: string
  change: string
  repository: string | null
  policy: string | null
  created_at: string
  decided_at: string | null
  receipt: string | null
  task_id: string | null
}

export interface ReviewTables {
  reviews: ReviewRow
}
