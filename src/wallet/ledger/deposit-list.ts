import { sql } from 'kysely'
import * as z from 'zod'
import { CallerId } from '../../identity/key.ts'
import { countMatches } from '../../store/count-matches.ts'
import type { CsvColumns } from '../../store/csv.ts'
import { toUtc } from '../../store/dates.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import { toUsd } from '../../text/money.ts'
import type { Entry } from './transfer.ts'

/** Filters of lists of money by time and caller. `from` is inclusive, `to` exclusive. */
export const MoneyQuery = ListQuery.extend({
  caller_id: CallerId.optional().describe('Only of this key or wallet.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Only at this time or later.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only before this time.'),
})
export type MoneyQuery = z.infer<typeof MoneyQuery>

/** A deposit in a list. */
export const ListedDeposit = z.object({
  reference: z.string().describe('Id of the payment'),
  caller_id: z.string().describe('The credited account'),
  amount_usd: z.number(),
  at: z.iso.datetime(),
  hash: z.string().describe('Of its transfer in the ledger'),
})
export type ListedDeposit = z.infer<typeof ListedDeposit>

/** Columns of the CSV of deposits. */
export const DEPOSIT_COLUMNS: CsvColumns<ListedDeposit> = {
  reference: ({ reference }) => reference,
  caller_id: ({ caller_id }) => caller_id,
  amount_usd: ({ amount_usd }) => amount_usd,
  at: ({ at }) => at,
  hash: ({ hash }) => hash,
}

/** Lists deposits, newest first. @throws GazewayError `invalid_cursor` */
export async function listDeposits(store: Store, query: Paged<MoneyQuery>): Promise<Page<ListedDeposit>> {
  const { caller_id, from, to, cursor, offset } = query
  const reader = pageReader(store, query)
  // A literal condition: the partial index covers deposits only.
  let matches = reader.selectFrom('ledger_transfers').where(sql<boolean>`kind = 'deposit'`)
  if (caller_id !== undefined) matches = matches.where('chain', '=', `caller:${caller_id}`)
  if (from) matches = matches.where('at', '>=', toUtc(from))
  if (to) matches = matches.where('at', '<', toUtc(to))
  let page = matches.select(['key', 'chain', 'entries', 'at', 'hash'])
  if (cursor !== undefined) {
    const [at, key] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
    page = page.where(sql<boolean>`(at, key) < (${at}, ${key})`)
  }
  if (offset) page = page.offset(offset)
  const newest = page.orderBy('at', 'desc').orderBy('key', 'desc')
  return readPage(query, {
    rows: (limit) => newest.limit(limit).execute(),
    total: () => countMatches(reader, matches),
    cursor: (row) => [row.at, row.key],
    item: ({ key, chain, entries, at, hash }) => ({
      reference: key.slice('deposit:'.length),
      caller_id: chain.slice('caller:'.length),
      amount_usd: toUsd((JSON.parse(entries) as Entry[]).find(({ account }) => account === chain)?.micros ?? 0),
      at,
      hash,
    }),
  })
}
