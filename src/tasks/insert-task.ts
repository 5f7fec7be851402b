import type { Transaction } from 'kysely'
import type { GazeLevel } from '../config/sections/gaze-section.ts'
import type { Escrows } from '../escrow/escrow.ts'
import type { Tally } from '../escrow/escrow-tally.ts'
import { type Funding, lock } from '../escrow/escrow-transfers.ts'
import { type ReviewDemand, termsOf } from '../review/task-review.ts'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import { statusAfter } from '../store/status-table.ts'
import type { Store } from '../store/store.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { UNCLAIMED } from './lease.ts'
import { TASK_TRANSITIONS } from './task-statuses.ts'

/** Dependencies of the creation of tasks. */
export interface TaskMaking {
  store: Store
  now: () => Date
  escrows: Pick<Escrows, 'funding'>
}

/** A task to create, with all defaults. */
export interface PlannedTask {
  id: string
  title: string
  description: string
  capabilities: readonly string[]
  rewardMicros: Micros
  gazeRequired: boolean
  /** Level of evidence of its attestations; none for the one of the settings. */
  gazeLevel?: GazeLevel | undefined
  /** Review of the result that releases the reward; none for an attestation. */
  review?: ReviewDemand | undefined
  /** Recipient of the reward; null for the agent that completes the task. */
  recipient: string | null
  /** Ids of tasks. */
  dependsOn: readonly string[]
  /** Unfinished tasks among those. */
  waitingOn: number
  swarmId: string | null
  ttlSeconds: number
}

/**
 * Inserts a task with its dependencies and locks its reward.
 *
 * @throws GazewayError `insufficient_credit` or `budget_reached`; the transaction must then be rolled back
 */
export async function insertTask(
  trx: Transaction<Schema>,
  planned: PlannedTask,
  { funding, creator, now, tally }: { funding: Funding; creator: string; now: Date; tally: Tally },
): Promise<TaskRow> {
  const row = toRow(planned, creator, now)
  await runBuilt(trx, 'insert task', Object.values(row), () => trx.insertInto('tasks').values(row).compile())
  const { capabilities, dependsOn } = planned
  if (capabilities.length > 0) {
    const asked = capabilities.map((capability) => ({ task_id: row.id, capability, status: row.status, agent: null }))
    await runBuilt(trx, `insert ${asked.length} capabilities`, asked.flatMap(Object.values), () =>
      trx.insertInto('task_capabilities').values(asked).compile(),
    )
  }
  if (dependsOn.length > 0)
    await trx
      .insertInto('task_dependencies')
      .values(dependsOn.map((id) => ({ depends_on: id, task_id: row.id })))
      .execute()
  tally.add(row.status === 'open' ? 'open' : 'blocked', 1)
  const { escrow_id: escrowId, reward_expires_at: expiresAt } = row
  if (escrowId === null || expiresAt === null) return row
  const locked = await lock(
    trx,
    funding,
    {
      id: escrowId,
      taskId: row.id,
      micros: planned.rewardMicros,
      recipient: planned.recipient,
      terms: planned.review === undefined ? null : termsOf(planned.review),
      at: row.created_at,
      expiresAt,
    },
    tally,
  )
  return noteSettlement(trx, row, locked.settlement_mode)
}

/** Stores the settlement of a task's reward, known once the reward is locked; the ledger by default. */
async function noteSettlement(trx: Transaction<Schema>, row: TaskRow, mode: string): Promise<TaskRow> {
  if (mode === row.reward_settlement) return row
  await trx.updateTable('tasks').set({ reward_settlement: mode }).where('id', '=', row.id).execute()
  return { ...row, reward_settlement: mode }
}

function toRow(planned: PlannedTask, creator: string, now: Date): TaskRow {
  const at = now.toISOString()
  const rewarded = planned.rewardMicros > 0
  return {
    id: planned.id,
    title: planned.title,
    description: planned.description,
    reward_micros: planned.rewardMicros,
    capabilities: JSON.stringify(planned.capabilities),
    status: statusAfter(TASK_TRANSITIONS, planned.waitingOn === 0 ? 'create' : 'wait', null) as string,
    creator,
    ...UNCLAIMED,
    completed_at: null,
    result: null,
    gaze_required: planned.gazeRequired ? 1 : 0,
    gaze_level: planned.gazeLevel ?? null,
    review: planned.review === undefined ? null : JSON.stringify(planned.review),
    depends_on: JSON.stringify(planned.dependsOn),
    waiting_on: planned.waitingOn,
    swarm_id: planned.swarmId,
    escrow_id: rewarded ? newId('esc') : null,
    reward_expires_at: rewarded ? new Date(now.getTime() + planned.ttlSeconds * 1000).toISOString() : null,
    reward_settlement: rewarded ? 'ledger' : null,
    created_at: at,
    updated_at: at,
  }
}
