import * as z from 'zod'
import { CallerId } from '../../identity/key.ts'
import { countMatches } from '../../store/count-matches.ts'
import type { CsvColumns } from '../../store/csv.ts'
import { toUtc } from '../../store/dates.ts'
import { decodeCursor, MAX_COUNTED, type Page, type Paged, pageReader, readPage } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import type { LedgerTransferRow } from '../../store/tables/wallet-tables.ts'
import { toUsd } from '../../text/money.ts'
import { archivedTransfers } from '../archive/archived-transfers.ts'
import { archivedUntil } from '../archive/archives.ts'
import { accountOf } from './accounts.ts'
import { MoneyQuery } from './deposit-list.ts'
import { type Entry, TransferKind } from './transfer.ts'

/** Query of a statement. */
export const StatementQuery = MoneyQuery.extend({
  caller_id: CallerId.optional().describe('A key or a wallet; the caller when absent.'),
})
export type StatementQuery = z.infer<typeof StatementQuery>

const Amount = z.object({ account: z.string(), amount_usd: z.number() })

/** A transfer from the view of one of its accounts. */
export const StatementLine = z.object({
  key: z.string().describe('Idempotency key; its prefix names the purpose'),
  position: z.int().describe('Position in the account, from 1'),
  kind: TransferKind,
  at: z.iso.datetime(),
  amount_usd: z.number().describe('Amount moved into the account; negative when it left'),
  entries: z.array(Amount).describe('Amounts of all accounts involved; they sum to zero'),
  memo: z.string().nullable(),
  hash: z.string().describe('Chains the transfer to the previous one'),
})
export type StatementLine = z.infer<typeof StatementLine>

/** Columns of the CSV of transfers. */
export const TRANSFER_COLUMNS: CsvColumns<StatementLine> = {
  key: ({ key }) => key,
  position: ({ position }) => position,
  kind: ({ kind }) => kind,
  at: ({ at }) => at,
  amount_usd: ({ amount_usd }) => amount_usd,
  entries: ({ entries }) => entries.map(({ account, amount_usd }) => `${account} ${amount_usd}`).join('; '),
  memo: ({ memo }) => memo ?? '',
  hash: ({ hash }) => hash,
}

/**
 * Reads the transfers of a caller's account, newest first. The chain of the account contains all of them: a transfer is
 * in the chain of its first account, and `caller` accounts sort first.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function readStatement(
  store: Store,
  callerId: string,
  page: Paged<Omit<MoneyQuery, 'caller_id'>>,
): Promise<Page<StatementLine>> {
  const { id } = accountOf('caller', callerId)
  const { cursor, offset = 0 } = page
  const [from, to] = [page.from && toUtc(page.from), page.to && toUtc(page.to)]
  const before = cursor === undefined ? undefined : decodeCursor(cursor, z.tuple([z.int()]))[0]
  const reader = pageReader(store, page)
  const isArchived = (await archivedUntil(reader)) !== null
  let matches = reader.selectFrom('ledger_transfers').where('chain', '=', id)
  if (from) matches = matches.where('at', '>=', from)
  if (to) matches = matches.where('at', '<', to)
  /** Selects the transfers before a position, last position first. */
  const newest = (end: number | undefined) => {
    const query = matches.selectAll().orderBy('position', 'desc')
    return end === undefined ? query : query.where('position', '<', end)
  }
  /** Reads the first `most` transfers of the store and of archives. Some of them are in both. */
  const merged = async (most: number, end?: number) => {
    const stored = await newest(end).limit(most).execute()
    const archived = await archivedTransfers(reader, { chain: id, before: end, from, to }, most)
    const all = new Map([...archived, ...stored].map((row) => [row.position, row]))
    return [...all.values()].sort((a, b) => b.position - a.position).slice(0, most)
  }
  return readPage(page, {
    rows: async (limit) =>
      isArchived
        ? (await merged(offset + limit, before)).slice(offset)
        : newest(before).offset(offset).limit(limit).execute(),
    async total() {
      if (isArchived && (from || to)) return (await merged(MAX_COUNTED)).length
      if (from || to) return countMatches(reader, matches)
      const account = store.db.selectFrom('ledger_accounts').select('transfers').where('id', '=', id)
      return (await account.executeTakeFirst())?.transfers ?? 0
    },
    item: (row) => toLine(row, id),
    cursor: (row) => [row.position],
  })
}

/** Builds the view of a transfer from one of its accounts. */
export function toLine({ chain: _, kind, entries, ...row }: LedgerTransferRow, account: string): StatementLine {
  const moved = JSON.parse(entries) as Entry[]
  return {
    ...row,
    kind: TransferKind.parse(kind),
    amount_usd: toUsd(moved.find((entry) => entry.account === account)?.micros ?? 0),
    entries: moved.map((entry) => ({ account: entry.account, amount_usd: toUsd(entry.micros) })),
  }
}
