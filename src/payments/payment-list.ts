import { sql } from 'kysely'
import * as z from 'zod'
import { countMatches } from '../store/count-matches.ts'
import type { CsvColumns } from '../store/csv.ts'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import type { MoneyQuery } from '../wallet/wallet.ts'

/** A payment by a credential, in a list. */
export const ListedPayment = z.object({
  id: z.string().describe('Id of the challenge that it answers'),
  method: z.string().describe('Payment method; `credit` for one from the balance of the wallet'),
  payer: z.string().describe('Paying address'),
  caller_id: z.string().describe('Account of the payment'),
  amount_usd: z.number(),
  scope: z.string().describe('What it pays for'),
  reference: z.string().nullable().describe('Transaction that settled it'),
  status: z.string(),
  created_at: z.iso.datetime(),
})
export type ListedPayment = z.infer<typeof ListedPayment>

/** Columns of the CSV of payments. */
export const PAYMENT_COLUMNS: CsvColumns<ListedPayment> = {
  id: ({ id }) => id,
  method: ({ method }) => method,
  payer: ({ payer }) => payer,
  caller_id: ({ caller_id }) => caller_id,
  amount_usd: ({ amount_usd }) => amount_usd,
  scope: ({ scope }) => scope,
  reference: ({ reference }) => reference ?? '',
  status: ({ status }) => status,
  created_at: ({ created_at }) => created_at,
}

/** Lists payments by credentials, newest first. @throws GazewayError `invalid_cursor` */
export async function listPayments(store: Store, query: Paged<MoneyQuery>): Promise<Page<ListedPayment>> {
  const { caller_id, from, to, cursor, offset } = query
  const reader = pageReader(store, query)
  let matches = reader.selectFrom('payments')
  if (caller_id !== undefined)
    matches = matches.where(({ or, eb }) => or([eb('account', '=', caller_id), eb('payer', '=', caller_id)]))
  if (from) matches = matches.where('created_at', '>=', toUtc(from))
  if (to) matches = matches.where('created_at', '<', toUtc(to))
  let page = matches.selectAll()
  if (cursor !== undefined) {
    const [at, id] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
    page = page.where(sql<boolean>`(created_at, id) < (${at}, ${id})`)
  }
  if (offset) page = page.offset(offset)
  const newest = page.orderBy('created_at', 'desc').orderBy('id', 'desc')
  return readPage(query, {
    rows: (limit) => newest.limit(limit).execute(),
    total: () => countMatches(reader, matches),
    cursor: (row) => [row.created_at, row.id],
    item: (row) => ({
      id: row.id,
      method: row.method,
      payer: row.payer,
      caller_id: row.account,
      amount_usd: toUsd(row.amount_micros),
      scope: row.scope,
      reference: row.reference,
      status: row.status,
      created_at: row.created_at,
    }),
  })
}
