import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import * as z from 'zod'
import { amongst } from '../../calls/call-selection.ts'
import { SESSION_OF_CALL } from '../../calls/named-session.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../../store/page.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { archivedReceipts, type ReceiptRange } from '../archive/archived-receipts.ts'
import { archivedUntil } from '../archive/archives.ts'
import type { ReceiptRecord } from './receipt.ts'
import { RECEIPT_COLUMNS, type ReceiptRow, toReceiptRecord } from './receipts.ts'

/** A receipt, and what other tables say about its call. */
type ListedReceipt = ReceiptRow & { transfer: string | null; caller_name: string | null; session: string | null }

/** Reads a page of receipts, newest first: those of the store, then those of archives. @throws GazewayError `invalid_cursor` */
export async function receiptPage(
  db: Kysely<Schema>,
  range: Omit<ReceiptRange, 'before'>,
  page: Paged,
): Promise<Page<ReceiptRecord>> {
  const { caller_id, ofGroup, model, from, to } = range
  const { cursor, offset = 0 } = page
  const until = await archivedUntil(db)
  const [at, id] = cursor === undefined ? [] : decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
  let matches = db.selectFrom('metered_calls')
  if (caller_id !== undefined) matches = matches.where('caller_id', '=', caller_id)
  if (ofGroup !== undefined) matches = matches.where(amongst('caller_id', ofGroup))
  if (model !== undefined) matches = matches.where('model', '=', model)
  if (from) matches = matches.where('at', '>=', from)
  if (to) matches = matches.where('at', '<', to)
  if (until !== null) matches = matches.where('at', '>=', until)
  if (at !== undefined) matches = matches.where(sql<boolean>`(at, call_id) < (${at}, ${id})`)
  let newest = matches
    .select([...RECEIPT_COLUMNS, 'transfer'])
    .select(callerName)
    .select(sessionOfCall)
  if (offset) newest = newest.offset(offset)
  newest = newest.orderBy('at', 'desc').orderBy('call_id', 'desc')
  const before = at === undefined || id === undefined ? undefined : { at, call_id: id }

  /** Reads archived receipts after those of the store. */
  async function older(limit: number, found: number): Promise<ListedReceipt[]> {
    const stored = found > 0 || offset === 0 ? offset : await countOf(matches)
    const rows = await firstArchived(db, { ...range, before }, { limit, skip: offset - stored })
    return listed(db, rows)
  }

  return readPage(page, {
    async rows(limit) {
      const rows: ListedReceipt[] = await newest.limit(limit).execute()
      if (until === null || rows.length === limit) return rows
      return [...rows, ...(await older(limit - rows.length, rows.length))]
    },
    total: () => 0,
    item: toReceiptRecord,
    cursor: (row) => [row.at, row.call_id],
  })
}

type Builder = ExpressionBuilder<Schema, 'metered_calls'>

const callerName = (eb: Builder) =>
  eb.selectFrom('keys').select('name').whereRef('keys.id', '=', 'metered_calls.caller_id').as('caller_name')
const sessionOfCall = (eb: Builder) =>
  eb
    .selectFrom('calls')
    .select(SESSION_OF_CALL)
    .whereRef('calls.call_id', '=', 'metered_calls.upstream_call_id')
    .as('session')

async function countOf(matches: SelectQueryBuilder<Schema, 'metered_calls', object>): Promise<number> {
  const { number } = await matches.select(({ fn }) => fn.countAll<number>().as('number')).executeTakeFirstOrThrow()
  return Number(number)
}

async function firstArchived(
  db: Kysely<Schema>,
  range: ReceiptRange,
  { limit, skip }: { limit: number; skip: number },
): Promise<MeteredCallRow[]> {
  const found: MeteredCallRow[] = []
  let left = skip
  for await (const rows of archivedReceipts(db, range)) {
    found.push(...rows.slice(left, left + limit - found.length))
    left = Math.max(0, left - rows.length)
    if (found.length === limit) break
  }
  return found
}

/** Adds the names of callers and the sessions of calls to archived receipts. */
async function listed(db: Kysely<Schema>, rows: readonly MeteredCallRow[]): Promise<ListedReceipt[]> {
  if (rows.length === 0) return []
  const callers = [...new Set(rows.map(({ caller_id }) => caller_id))]
  const calls = [...new Set(rows.flatMap(({ upstream_call_id }) => upstream_call_id ?? []))]
  const names = await db.selectFrom('keys').select(['id', 'name']).where('id', 'in', callers).execute()
  const sessions =
    calls.length === 0
      ? []
      : await db.selectFrom('calls').select(['call_id', SESSION_OF_CALL]).where('call_id', 'in', calls).execute()
  const nameOf = new Map(names.map(({ id, name }) => [id, name]))
  const sessionOf = new Map(sessions.map(({ call_id, session_id }) => [call_id, session_id]))
  return rows.map((row) => ({
    ...row,
    caller_name: nameOf.get(row.caller_id) ?? null,
    session: sessionOf.get(row.upstream_call_id ?? '') ?? null,
  }))
}
