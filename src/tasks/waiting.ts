import { sql, type Transaction } from 'kysely'
import { LIVE_STATUSES } from '../escrow/escrow-statuses.ts'
import type { Tally } from '../escrow/escrow-tally.ts'
import { lockedRows, refund } from '../escrow/moves.ts'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { markCapabilities } from './mark-capabilities.ts'

/** Tasks of one statement: both engines take so many parameters. */
const CHUNK = 500

/**
 * Opens the tasks that waited for a completed one and wait for nothing else. Their rows are locked in the order of their
 * ids, as everywhere: two that end at once may have the same tasks waiting for them.
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
 * Cancels the tasks that wait for one that will never be completed, and those that wait for them, and refunds the rewards
 * of all. Every task is locked before any money is: who cancels one of them has its row, and waits for the payer's account.
 *
 * @param ended as it is changed in this transaction already
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
 * Locks the blocked tasks that wait for a task, directly or not, in the order of their ids. A task has a later id than
 * those that it waits for, so that the row of `id`, which is locked already, comes first in that order.
 */
async function lockWaiting(trx: Transaction<Schema>, id: string): Promise<string[]> {
  const locked = new Set<string>()
  for (;;) {
    // Others may be made to wait for one until its row is locked.
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
 * Gives rewards back to whoever locked them: the escrows are locked in the order of their ids, then the accounts in that of
 * their payers.
 *
 * @param reasons by the ids of the escrows; those that are over stay as they are
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
