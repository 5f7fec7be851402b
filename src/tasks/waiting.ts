import { sql, type Transaction } from 'kysely'
import { lockedRow, refund } from '../escrow/moves.ts'
import type { Tally } from '../escrow/tally.ts'
import { LIVE_STATUSES } from '../escrow/transitions.ts'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { TaskRow } from '../store/tables/tasks.ts'
import { markCapabilities } from './mark-capabilities.ts'

/** Tasks of one statement: both engines take so many parameters. */
const CHUNK = 500

/** Opens the tasks that waited for a completed one and wait for nothing else. */
export async function openWaiting(trx: Transaction<Schema>, id: string, at: string, tally: Tally): Promise<void> {
  const { rows: waiting } = await runBuilt<Pick<TaskRow, 'id' | 'status' | 'capabilities'>>(
    trx,
    'open waiting',
    [at, id],
    () =>
      trx
        .updateTable('tasks')
        .set({
          waiting_on: sql`waiting_on - 1`,
          status: sql`case when waiting_on = 1 then 'open' else status end`,
          updated_at: at,
        })
        .where('id', 'in', (eb) => eb.selectFrom('task_dependencies').select('task_id').where('depends_on', '=', id))
        .where(sql<boolean>`status = 'blocked'`)
        .returning(['id', 'status', 'capabilities'])
        .compile(),
  )
  const opened = waiting.filter(({ status }) => status === 'open')
  if (opened.length === 0) return
  tally.add('blocked', -opened.length)
  tally.add('open', opened.length)
  await markCapabilities(trx, opened)
}

/** Cancels the tasks that wait for one that will never be completed, and those that wait for them, and refunds all. */
export async function giveUpWaiting(trx: Transaction<Schema>, id: string, at: string, tally: Tally): Promise<void> {
  for (let lost: string[] = [id]; lost.length > 0; ) {
    const next: string[] = []
    for (let start = 0; start < lost.length; start += CHUNK) {
      const cancelled = await cancelWaiting(trx, lost.slice(start, start + CHUNK), at)
      await markCapabilities(trx, cancelled)
      tally.add('blocked', -cancelled.length)
      tally.add('cancelled', cancelled.length)
      for (const task of cancelled) {
        const why = `Task ${id}, which it waited for, will not be completed`
        await refundReward(trx, task, { reason: why, at }, tally)
        next.push(task.id)
      }
    }
    lost = next
  }
}

function cancelWaiting(trx: Transaction<Schema>, ids: readonly string[], at: string) {
  return trx
    .updateTable('tasks')
    .set({ status: 'cancelled', updated_at: at })
    .where('id', 'in', (eb) => eb.selectFrom('task_dependencies').select('task_id').where('depends_on', 'in', ids))
    .where('status', '=', 'blocked')
    .returning(['id', 'capabilities', 'escrow_id'])
    .execute()
}

/** Gives the reward of a task that will not be done back to whoever locked it. */
export async function refundReward(
  trx: Transaction<Schema>,
  { escrow_id: escrowId }: Pick<TaskRow, 'escrow_id'>,
  of: { reason: string; at: string },
  tally: Tally,
): Promise<void> {
  const row = escrowId === null ? undefined : await lockedRow(trx, escrowId)
  if (row && LIVE_STATUSES.some((live) => live === row.status)) await refund(trx, row, of, tally)
}
