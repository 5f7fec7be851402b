import { sql } from 'kysely'
import * as z from 'zod'
import { decodeCursor, MAX_COUNTED, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import { type Escrow, EscrowId, type EscrowList } from './escrow-record.ts'
import { ESCROW_STATUSES, type EscrowStatus } from './escrow-statuses.ts'
import { readTotals } from './escrow-tally.ts'

/**
 * Lists a page of escrows, newest first. The total comes from running totals; for one task it is counted, up to 1,000.
 *
 * @param show turns rows into escrows
 * @throws GazewayError `invalid_cursor`
 */
export async function listEscrows(
  store: Store,
  query: Paged<EscrowList>,
  show: (rows: EscrowRow[]) => Promise<Escrow[]>,
): Promise<Page<Escrow>> {
  const { status, task_id: taskId, cursor, offset } = query
  let selected = pageReader(store, query).selectFrom('escrows').selectAll()
  const column = taskId === undefined ? sql.ref<string>('status') : unindexed('status')
  if (status !== undefined) selected = selected.where(column, '=', status)
  if (taskId !== undefined) selected = selected.where('task_id', '=', taskId)
  // Ids sort by creation.
  if (cursor !== undefined) selected = selected.where('id', '<', decodeCursor(cursor, z.tuple([EscrowId]))[0])
  if (offset !== undefined) selected = selected.offset(offset)
  const newest = selected.orderBy('id', 'desc')
  return readPage(query, {
    rows: async (limit) => show(await newest.limit(limit).execute()),
    total: () => countEscrows(store, query),
    item: (escrow) => escrow,
    cursor: (escrow) => [escrow.id],
  })
}

async function countEscrows({ db }: Store, { status, task_id: taskId }: EscrowList): Promise<number> {
  if (taskId === undefined) {
    const totals = await readTotals(db)
    const counted: readonly EscrowStatus[] = status === undefined ? ESCROW_STATUSES : [status]
    return counted.reduce<number>((sum, name) => sum + totals[`escrow_${name}`], 0)
  }
  const ofStatus = status === undefined ? sql`` : sql`and ${unindexed('status')} = ${status}`
  const { rows } = await sql<{ count: number }>`select count(*) as count from
    (select 1 from escrows where task_id = ${taskId} ${ofStatus} limit ${MAX_COUNTED}) as counted`.execute(db)
  return rows[0]?.count ?? 0
}
