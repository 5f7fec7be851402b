import { type Kysely, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import * as z from 'zod'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import type { Viewer } from './escrow-access.ts'
import { type Escrow, EscrowId, type EscrowList } from './escrow-record.ts'
import { selectedStatuses } from './escrow-statuses.ts'
import { readTotals } from './escrow-tally.ts'

/**
 * Lists a page of escrows, newest first. The total comes from running totals; for one task or payer it is counted, up
 * to 1,000, as for the escrows of one key.
 *
 * @param viewer key whose escrows are listed; null for all
 * @param show turns rows into escrows
 * @throws GazewayError `invalid_cursor`
 */
export async function listEscrows(
  store: Store,
  { query, viewer }: { query: Paged<EscrowList>; viewer: Viewer | null },
  show: (rows: EscrowRow[]) => Promise<Escrow[]>,
): Promise<Page<Escrow>> {
  const { cursor, offset = 0 } = query
  // Ids sort by creation.
  const before = cursor === undefined ? undefined : decodeCursor(cursor, z.tuple([EscrowId]))[0]
  const shown = { ...query, viewer }
  const each = matching(pageReader(store, query), shown).map((escrows) => {
    const newest = escrows.selectAll().orderBy('id', 'desc')
    return before === undefined ? newest : newest.where('id', '<', before)
  })
  return readPage(query, {
    async rows(limit) {
      const rows = await Promise.all(each.map((newest) => newest.limit(offset + limit).execute()))
      const merged = rows.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
      return show(merged.slice(offset, offset + limit))
    },
    total: () => countEscrows(store, shown),
    item: (escrow) => escrow,
    cursor: (escrow) => [escrow.id],
  })
}

/** A list of escrows, as shown to one key. */
interface Shown extends EscrowList {
  viewer: Viewer | null
}

/** Selects the escrows that meet a filter. Without a task, payer or viewer, the index of each status leads to its own. */
function matching(
  db: Kysely<Schema>,
  { status, task_id: taskId, payer, viewer }: Shown,
): SelectQueryBuilder<Schema, 'escrows', object>[] {
  let escrows = db.selectFrom('escrows')
  if (taskId !== undefined) escrows = escrows.where('task_id', '=', taskId)
  if (payer !== undefined) escrows = escrows.where('payer', '=', payer)
  const seesAll = viewer === null || payer === viewer.id
  if (!seesAll) escrows = escrows.where(taskId === undefined ? ownEscrows(viewer) : ofTask(viewer))
  if (status === undefined) return [escrows]
  const statuses = selectedStatuses(status)
  if (taskId === undefined && payer === undefined && seesAll)
    return statuses.map((one) => escrows.where('status', '=', one))
  return [escrows.where(unindexed('status'), 'in', statuses)]
}

/** Selects the escrows that a key pays, those that pay it, and those of its tasks, from the index of each. */
const ownEscrows = ({ id, wallet }: Viewer) => sql<SqlBool>`escrows.id in (
  select id from escrows where payer = ${id}
  union select id from escrows where recipient in (${id}, ${wallet ?? id})
  union select escrows.id from tasks join escrows on escrows.task_id = tasks.id where tasks.creator = ${id}
  union select escrows.id from tasks join escrows on escrows.task_id = tasks.id where tasks.claimed_by = ${id})`

/** Selects, of the escrows of one task, those that a key sees. */
const ofTask = ({ id, wallet }: Viewer) => sql<SqlBool>`(${unindexed('escrows.payer')} = ${id}
  or ${unindexed('escrows.recipient')} in (${id}, ${wallet ?? id})
  or exists (select 1 from tasks where tasks.id = escrows.task_id and (tasks.creator = ${id} or tasks.claimed_by = ${id})))`

async function countEscrows(store: Store, query: Shown): Promise<number> {
  const [matches] = matching(store.db, query)
  if (matches && (query.viewer !== null || (query.task_id ?? query.payer) !== undefined))
    return countMatches(store.db, matches)
  const totals = await readTotals(store.db)
  return selectedStatuses(query.status).reduce((sum, name) => sum + totals[`escrow_${name}`], 0)
}
