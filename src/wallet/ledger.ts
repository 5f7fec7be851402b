import { type QueryResult, type RawBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { type Micros, toUsd } from '../money.ts'
import { runTogether, type Statement } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { LedgerAccountRow, LedgerTransferRow } from '../store/tables/wallet.ts'
import { type AccountRef, lockAccounts } from './accounts.ts'
import { type Transfer, type TransferKind, transferHash } from './transfer.ts'

/** An amount that is to be moved into (positive) or out of (negative) an account. */
export interface NewEntry {
  account: AccountRef
  micros: Micros
  /** The lowest balance that the account may fall to: 0 when absent, below it by a caller's credit, null for none. */
  floor?: Micros | null
}

/** A transfer to be made. */
export interface NewTransfer {
  /** What makes it happen once: the same key never moves money twice. Printable ASCII. */
  key: string
  kind: TransferKind
  /** At least two, each of another account; they sum to zero. */
  entries: readonly NewEntry[]
  /** Why, for whoever reads the ledger. Printable ASCII. */
  memo?: string
  /** RFC 3339 UTC with milliseconds. */
  at: string
}

const PRINTABLE = /^[\x20-\x7e]{1,512}$/

/**
 * Moves money between accounts, as part of a write transaction. The transfer is immutable, happens once per `key`, and
 * is chained by its hash to the one before it on its first account.
 *
 * @returns the stored transfer: the earlier one when `key` was used before
 * @throws GazewayError `insufficient_credit` when an account would fall below its floor, `conflict` when `key` was used
 *   for another transfer; the transaction must then be given up
 * @throws RangeError for a transfer that no balance could make right
 */
export function post(trx: Transaction<Schema>, transfer: NewTransfer): Promise<Transfer> {
  return postWith(trx, transfer, [], () => {})
}

/**
 * As {@link post}, with statements that change what the money is for: after its accounts are locked, in the round trip
 * that moves it.
 *
 * @param verify given the statements' results; throws where the transaction must be given up
 */
export async function postWith(
  trx: Transaction<Schema>,
  transfer: NewTransfer,
  statements: readonly Statement[],
  verify: (results: readonly QueryResult<unknown>[]) => void,
): Promise<Transfer> {
  const entries = transfer.entries.toSorted((a, b) => (a.account.id < b.account.id ? -1 : 1))
  check(transfer, entries)
  const accounts = await lockAccounts(
    trx,
    entries.map((entry) => entry.account),
  )
  const row = toRow(transfer, entries, accounts[0] as LedgerAccountRow)
  const results = await runTogether(trx, [...statements, insertion(trx, row), move(trx, entries, row)])
  const [inserted, moved] = results.splice(-2)
  verify(results)
  if (inserted?.numAffectedRows === 0n) return earlier(trx, row)
  if (moved?.numAffectedRows !== BigInt(entries.length)) throw short(entries, accounts)
  return toTransfer(row)
}

function insertion(trx: Transaction<Schema>, row: LedgerTransferRow): Statement {
  return {
    form: 'insert transfer',
    parameters: Object.values(row),
    build: () =>
      trx
        .insertInto('ledger_transfers')
        .values(row)
        .onConflict((conflict) => conflict.column('key').doNothing())
        .compile(),
  }
}

/**
 * One statement that the floors bound, and that does nothing where another transfer has the key; on the first account it
 * also moves the chain on.
 */
function move(trx: Transaction<Schema>, entries: readonly NewEntry[], row: LedgerTransferRow): Statement {
  const { key, chain, hash } = row
  const moves = entries.map(({ account: { id }, micros, floor = 0 }) => {
    // What comes in is never refused: an account may be below a limit that was lowered.
    const least = micros > 0 ? null : floor
    return id === chain ? [id, micros, least, 1, hash] : [id, micros, least, 0, null]
  })
  return {
    form: `move ${moves.length}`,
    parameters: [...moves.flat(), key, hash],
    build: () => bounded(moves, key, hash).compile(trx),
  }
}

/** @param moves account, amount, floor, steps and head of each */
function bounded(
  moves: ReadonlyArray<ReadonlyArray<string | number | null>>,
  key: string,
  hash: string,
): RawBuilder<never> {
  const rows = moves.map(
    ([id, micros, floor, steps, head]) => sql`select cast(${id} as text) as id, cast(${micros} as bigint) as micros,
      cast(${floor} as bigint) as floor, cast(${steps} as bigint) as steps, cast(${head} as text) as head`,
  )
  return sql`update ledger_accounts as a
    set balance_micros = a.balance_micros + m.micros, transfers = a.transfers + m.steps, head = coalesce(m.head, a.head)
    from (${sql.join(rows, sql` union all `)}) as m
    where a.id = m.id and (m.floor is null or a.balance_micros + m.micros >= m.floor)
      and exists (select 1 from ledger_transfers where key = ${key} and hash = ${hash})`
}

function short(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): GazewayError {
  const left = (i: number, floor: Micros | null = 0) => (accounts[i]?.balance_micros ?? 0) - (floor ?? -Infinity)
  const at = entries.findIndex(({ micros, floor }, i) => micros < 0 && left(i, floor) + micros < 0)
  const { account, micros, floor } = entries[at] as NewEntry
  return new GazewayError(
    'insufficient_credit',
    `${toUsd(-micros)} USD are needed and ${toUsd(Math.max(0, left(at, floor)))} are left in ${account.id}. ` +
      'Deposit funds, ask for less, or have the credit limit raised.',
  )
}

function check({ key, memo }: NewTransfer, entries: readonly NewEntry[]): void {
  const ids = new Set(entries.map((entry) => entry.account.id))
  if (entries.length < 2 || ids.size !== entries.length)
    throw new RangeError(`The transfer ${key} needs two or more entries, each on another account.`)
  if (!entries.every(({ micros }) => Number.isSafeInteger(micros) && micros !== 0))
    throw new RangeError(`The transfer ${key} has an amount that is zero or not a safe integer of micro-dollars.`)
  const sum = entries.reduce((total, { micros }) => total + BigInt(micros), 0n)
  if (sum !== 0n) throw new RangeError(`The entries of the transfer ${key} sum to ${sum}, not to zero.`)
  if (!PRINTABLE.test(key) || (memo !== undefined && !PRINTABLE.test(memo)))
    throw new RangeError('The key and the memo of a transfer are printable ASCII, at most 512 characters.')
}

function toRow(
  { key, kind, memo = null, at }: Omit<NewTransfer, 'memo'> & { memo?: string | null },
  entries: readonly NewEntry[],
  first: LedgerAccountRow,
): LedgerTransferRow {
  const stored = JSON.stringify(entries.map(({ account, micros }) => ({ account: account.id, micros })))
  const row = { key, chain: first.id, position: first.transfers + 1, kind, entries: stored, memo, at }
  return { ...row, hash: transferHash(first.head, row) }
}

async function earlier(trx: Transaction<Schema>, row: LedgerTransferRow): Promise<Transfer> {
  const found = await trx
    .selectFrom('ledger_transfers')
    .selectAll()
    .where('key', '=', row.key)
    .executeTakeFirstOrThrow()
  const same = found.kind === row.kind && found.entries === row.entries && found.memo === row.memo
  if (same) return toTransfer(found)
  throw new GazewayError('conflict', `The ledger already has another transfer under ${row.key}.`)
}

/** A stored row as the transfer that it is. */
function toTransfer(row: LedgerTransferRow): Transfer {
  return { ...row, entries: JSON.parse(row.entries) }
}
