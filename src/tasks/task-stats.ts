import { type Kysely, sql } from 'kysely'
import type { EscrowStatus } from '../escrow/escrow-statuses.ts'
import { readTotals } from '../escrow/escrow-tally.ts'
import { TASK_STATUSES, type TaskStatus } from '../escrow/task-status.ts'
import { safeSum } from '../store/safe-sum.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import type { TaskStats } from './task-record.ts'

/** Reads the numbers of all tasks and the sums of their rewards, from running totals. */
export async function statsOfAll({ db }: Store): Promise<TaskStats> {
  const totals = await readTotals(db)
  return statsFrom(totals, { locked: totals.locked_micros, paid: totals.paid_micros, refunded: totals.refunded_micros })
}

/**
 * Counts the tasks that a key sees: open ones, and those that it created or claimed. Sums the rewards of those that it
 * created or claimed. Reads no other tasks, on the connection for long reads.
 */
export async function statsOfViewer({ db, reads }: Store, viewer: string): Promise<TaskStats> {
  const own = ownTasks(reads, viewer)
  const [{ open }, counted, summed] = await Promise.all([
    readTotals(db),
    reads
      .selectFrom(own)
      .select(['own.status', sql<number>`count(*)`.as('tasks')])
      .groupBy('own.status')
      .execute(),
    reads
      .selectFrom(own)
      .innerJoin('escrows', 'escrows.task_id', 'own.id')
      .select(['escrows.status', safeSum('escrows.amount_micros').as('micros')])
      .groupBy('escrows.status')
      .execute(),
  ])
  const counts = new Map(counted.map(({ status, tasks }) => [status, Number(tasks)]))
  const micros = (...statuses: EscrowStatus[]) =>
    summed.reduce((sum, one) => (statuses.includes(one.status as EscrowStatus) ? sum + (one.micros ?? 0) : sum), 0)
  const byStatus = Object.fromEntries(TASK_STATUSES.map((status) => [status, counts.get(status) ?? 0]))
  return statsFrom(
    { ...(byStatus as Record<TaskStatus, number>), open },
    {
      locked: micros('locked', 'expired'),
      paid: micros('released', 'settled'),
      refunded: micros('refunded'),
    },
  )
}

/** Selects the tasks that a key created or claimed, from the index of each. */
const ownTasks = (db: Kysely<Schema>, key: string) => {
  const tasks = db.selectFrom('tasks').select(['id', 'status'])
  const claimed = tasks.where('claimed_by', '=', key).where('creator', '<>', key)
  return tasks.where('creator', '=', key).unionAll(claimed).as('own')
}

function statsFrom(
  counts: Record<TaskStatus, number>,
  micros: Record<keyof TaskStats['reward_usd'], number>,
): TaskStats {
  return {
    total: TASK_STATUSES.reduce((sum, status) => sum + counts[status], 0),
    by_status: Object.fromEntries(TASK_STATUSES.map((status) => [status, counts[status]])) as TaskStats['by_status'],
    reward_usd: { locked: toUsd(micros.locked), paid: toUsd(micros.paid), refunded: toUsd(micros.refunded) },
  }
}
