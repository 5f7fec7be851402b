import type { Kysely, SelectQueryBuilder } from 'kysely'
import * as z from 'zod'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import { type Escrow, EscrowId, type EscrowList } from './escrow-record.ts'
import { selectedStatuses } from './escrow-statuses.ts'
import { readTotals } from './escrow-tally.ts'

/**
 * Lists a page of escrows, newest first. The total comes from running totals; for one task or payer it is counted, up
 * to 1,000.
 *
 * @param show turns rows into escrows
 * @throws GazewayError `invalid_cursor`
 */
export async function listEscrows(
  store: Store,
  query: Paged<EscrowList>,
  show: (rows: EscrowRow[]) => Promise<Escrow[]>,
): Promise<Page<Escrow>> {
  const { cursor, offset = 0 } = query
  // Ids sort by creation.
  const before = cursor === undefined ? undefined : decodeCursor(cursor, z.tuple([EscrowId]))[0]
  const each = matching(pageReader(store, query), query).map((escrows) => {
    const newest = escrows.selectAll().orderBy('id', 'desc')
    return before === undefined ? newest : newest.where('id', '<', before)
  })
  return readPage(query, {
    async rows(limit) {
      const rows = await Promise.all(each.map((newest) => newest.limit(offset + limit).execute()))
      const merged = rows.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
      return show(merged.slice(offset, offset + limit))
    },
    total: () => countEscrows(store, query),
    item: (escrow) => escrow,
    cursor: (escrow) => [escrow.id],
  })
}

/** Selects the escrows that meet a filter. Without a task or a payer, the index of each status leads to its own. */
function matching(
  db: Kysely<Schema>,
  { status, task_id: taskId, payer }: EscrowList,
): SelectQueryBuilder<Schema, 'escrows', object>[] {
  let escrows = db.selectFrom('escrows')
  if (taskId !== undefined) escrows = escrows.where('task_id', '=', taskId)
  if (payer !== undefined) escrows = escrows.where('payer', '=', payer)
  if (status === undefined) return [escrows]
  const statuses = selectedStatuses(status)
  if (taskId === undefined && payer === undefined) return statuses.map((one) => escrows.where('status', '=', one))
  return [escrows.where(unindexed('status'), 'in', statuses)]
}

async function countEscrows(store: Store, query: EscrowList): Promise<number> {
  const [matches] = matching(store.db, query)
  if (matches && (query.task_id ?? query.payer) !== undefined) return countMatches(store.db, matches)
  const totals = await readTotals(store.db)
  return selectedStatuses(query.status).reduce((sum, name) => sum + totals[`escrow_${name}`], 0)
}
