/**
 * One task.
 *
 * - `capabilities`, `depends_on` and `result` are JSON
 * - `creator` and `claimed_by` are ids of keys
 * - `claim_hash` is the SHA-256 of the current claim's token
 * - `gaze_level` is the level of evidence that its attestations need; null for the one of the settings
 * - `review` is JSON: the review of its result that releases its reward; null for none
 * - `waiting_on` counts the dependencies that are not completed
 *
 * A task past its `lease_expires_at` is open, even before its row says so.
 */
export interface TaskRow {
  id: string
  title: string
  description: string
  reward_micros: number
  capabilities: string
  status: string
  creator: string
  agent: string | null
  claimed_by: string | null
  claim_hash: string | null
  lease_seconds: number | null
  lease_expires_at: string | null
  claimed_at: string | null
  completed_at: string | null
  result: string | null
  gaze_required: number
  gaze_level: string | null
  review: string | null
  depends_on: string
  waiting_on: number
  swarm_id: string | null
  escrow_id: string | null
  reward_expires_at: string | null
  reward_settlement: string | null
  created_at: string
  updated_at: string
}

/** A goal that was split into tasks. `creator` is the id of a key. */
export interface SwarmRow {
  id: string
  goal: string
  creator: string
  created_at: string
}

/** One capability that a task requires, with the task's status and agent, for lists that filter by them. */
export interface TaskCapabilityRow {
  task_id: string
  capability: string
  status: string
  agent: string | null
}

/** A task that waits for another task. */
export interface TaskDependencyRow {
  depends_on: string
  task_id: string
}

/**
 * Part of the numbers of tasks and escrows by status, and of their money. The rows are summed; a single row may be
 * negative.
 */
export interface TaskTotalsRow {
  shard: number
  blocked: number
  open: number
  claimed: number
  completed: number
  failed: number
  cancelled: number
  escrow_locked: number
  escrow_released: number
  escrow_settled: number
  escrow_expired: number
  escrow_refunded: number
  locked_micros: number
  paid_micros: number
  refunded_micros: number
}

export interface TaskTables {
  tasks: TaskRow
  swarms: SwarmRow
  task_capabilities: TaskCapabilityRow
  task_dependencies: TaskDependencyRow
  task_totals: TaskTotalsRow
}
