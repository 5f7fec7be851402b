import { sql, type Transaction } from 'kysely'
import { LIVE_STATUSES } from '../escrow/escrow-statuses.ts'
import type { Tally } from '../escrow/escrow-tally.ts'
import { lockedRows, refund } from '../escrow/escrow-transfers.ts'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { markCapabilities } from './mark-capabilities.ts'

/** Tasks per statement; both engines limit the parameters of one. */
const CHUNK = 500

/**
 * Opens the tasks that waited only for a completed one. Locks their rows in the order of their ids, because two tasks
 * that end at once may share dependents.
 */
export async function openWaiting(trx: Transaction<Schema>, id: string, at: string, tally: Tally): Promise<void> {
  const locked = await runBuilt(trx, 'lock waiting', [id], () =>
    trx
      .selectFrom('tasks')
      .select('id')
      .where('id', 'in', (eb) => eb.selectFrom('task_dependencies').select('task_id').where('depends_on', '=', id))
      .where(sql<boolean>`status = 'blocked'`)
      .orderBy('id')
      .forUpdate()
      .compile(),
  )
  if (locked.rows.length === 0) return
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

/**
 * Cancels the direct and indirect dependents of a task that will not be completed, and refunds all rewards. Locks all
 * tasks before any account: a concurrent cancellation holds a task row while it waits for the account.
 *
 * @param ended changed earlier in this transaction
 */
export async function giveUp(
  trx: Transaction<Schema>,
  ended: Pick<TaskRow, 'id' | 'escrow_id'>,
  { reason, at }: { reason: string; at: string },
  tally: Tally,
): Promise<void> {
  const cancelled = await cancelWaiting(trx, ended.id, at)
  tally.add('blocked', -cancelled.length)
  tally.add('cancelled', cancelled.length)
  await markCapabilities(trx, cancelled)
  const reasons = new Map<string, string>()
  if (ended.escrow_id !== null) reasons.set(ended.escrow_id, reason)
  const why = `Task ${ended.id}, which it waited for, will not be completed`
  for (const { escrow_id } of cancelled) if (escrow_id !== null) reasons.set(escrow_id, why)
  await refundAll(trx, reasons, at, tally)
}

type Cancelled = Pick<TaskRow, 'id' | 'capabilities' | 'escrow_id'>

async function cancelWaiting(trx: Transaction<Schema>, id: string, at: string): Promise<Cancelled[]> {
  const ids = await lockWaiting(trx, id)
  const cancelled: Cancelled[] = []
  for (let start = 0; start < ids.length; start += CHUNK) {
    const rows = await trx
      .updateTable('tasks')
      .set({ status: 'cancelled', updated_at: at })
      .where('id', 'in', ids.slice(start, start + CHUNK))
      .returning(['id', 'capabilities', 'escrow_id'])
      .execute()
    cancelled.push(...rows)
  }
  return cancelled
}

/**
 * Locks the blocked dependents of a task, direct and indirect, in the order of their ids. A task has a later id than
 * its dependencies, so the row of `id`, locked before, comes first.
 */
async function lockWaiting(trx: Transaction<Schema>, id: string): Promise<string[]> {
  const locked = new Set<string>()
  for (;;) {
    // New dependents may be added to a task until its row is locked.
    const ids = (await blockedBehind(trx, id)).filter((waiting) => !locked.has(waiting))
    if (ids.length === 0) return [...locked]
    for (let start = 0; start < ids.length; start += CHUNK) {
      const rows = await trx
        .selectFrom('tasks')
        .select('id')
        .where('id', 'in', ids.slice(start, start + CHUNK))
        .where('status', '=', 'blocked')
        .orderBy('id')
        .forUpdate()
        .execute()
      for (const row of rows) locked.add(row.id)
    }
  }
}

/** @returns sorted ids */
async function blockedBehind(trx: Transaction<Schema>, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive waiting (id) as (
      select task_id from task_dependencies where depends_on = ${id}
      union select d.task_id from waiting join task_dependencies as d on d.depends_on = waiting.id
    )
    select tasks.id from waiting join tasks on tasks.id = waiting.id where tasks.status = 'blocked'
    order by tasks.id`.execute(trx)
  return rows.map((row) => row.id)
}

/**
 * Refunds rewards to their payers. Locks the escrows in the order of their ids, then the accounts in the order of their
 * payers.
 *
 * @param reasons by escrow id; escrows that have ended stay unchanged
 */
async function refundAll(
  trx: Transaction<Schema>,
  reasons: ReadonlyMap<string, string>,
  at: string,
  tally: Tally,
): Promise<void> {
  const ids = [...reasons.keys()].sort()
  const held = []
  for (let start = 0; start < ids.length; start += CHUNK)
    held.push(...(await lockedRows(trx, ids.slice(start, start + CHUNK))))
  const live = held.filter((row) => LIVE_STATUSES.some((status) => status === row.status))
  for (const row of live.sort((a, b) => (a.payer < b.payer ? -1 : Number(a.payer > b.payer))))
    await refund(trx, row, { reason: reasons.get(row.id) ?? null, at }, tally)
}
