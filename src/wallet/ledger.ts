import { type QueryResult, type RawBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { runTogether, type Statement } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { LedgerAccountRow, LedgerTransferRow } from '../store/tables/wallet-tables.ts'
import { type Micros, MOST_MICROS, toUsd } from '../text/money.ts'
import { type AccountRef, lockAccounts } from './accounts.ts'
import { depositedIn, withDeposited } from './deposited.ts'
import { type Entry, type Transfer, type TransferKind, transferHash } from './transfer.ts'

/** An amount that is to be moved into (positive) or out of (negative) an account. */
export interface NewEntry {
  account: AccountRef
  micros: Micros
  /** The lowest balance that the account may fall to: 0 when absent, below it by a caller's credit, null for none. */
  floor?: Micros | null
  /**
   * Of money that leaves: the part that comes from deposits, with the sign of `micros`. The account must have it, unless
   * it has no floor. When absent, deposits leave first.
   */
  deposited?: Micros
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

const MOST = sql.lit(MOST_MICROS)
const PRINTABLE = /^[\x20-\x7e]{1,512}$/

/**
 * Moves money between accounts, as part of a write transaction. The transfer is immutable, happens once per `key`, and
 * is chained by its hash to the one before it on its first account.
 *
 * @returns the stored transfer, whose entries say what of them comes from deposits: the earlier one when `key` was used before
 * @throws GazewayError `insufficient_credit` when an account would fall below its floor, or has not the deposits that it is
 *   to give, `balance_too_large` when it would go beyond {@link MOST_MICROS}, `conflict` when `key` was used for another transfer; the transaction must then be given up
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
  const moved = withDeposited(entries, accounts)
  const row = toRow(transfer, moved, accounts[0] as LedgerAccountRow)
  const results = await runTogether(trx, [...statements, insertion(trx, row), move(trx, { entries, moved, row })])
  const [inserted, changed] = results.splice(-2)
  verify(results)
  if (inserted?.numAffectedRows === 0n) return earlier(trx, row)
  if (changed?.numAffectedRows !== BigInt(entries.length)) throw refusal(entries, moved, accounts)
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
function move(
  trx: Transaction<Schema>,
  { entries, moved, row }: { entries: readonly NewEntry[]; moved: readonly Entry[]; row: LedgerTransferRow },
): Statement {
  const { key, chain, hash } = row
  const moves = entries.map(({ account: { id }, micros, floor = 0 }, i) => {
    // What comes in is never refused: an account may be below a limit that was lowered.
    const least = micros > 0 ? null : floor
    const deposited = moved[i]?.deposited ?? 0
    return id === chain ? [id, micros, deposited, least, 1, hash] : [id, micros, deposited, least, 0, null]
  })
  return {
    form: `move ${moves.length}`,
    parameters: [...moves.flat(), key, hash],
    build: () => bounded(moves, key, hash).compile(trx),
  }
}

/** @param moves account, amount, deposited part, floor, steps and head of each */
function bounded(
  moves: ReadonlyArray<ReadonlyArray<string | number | null>>,
  key: string,
  hash: string,
): RawBuilder<never> {
  const rows = moves.map(
    ([id, micros, deposited, floor, steps, head]) => sql`select cast(${id} as text) as id,
      cast(${micros} as bigint) as micros, cast(${deposited} as bigint) as deposited, cast(${floor} as bigint) as floor, cast(${steps} as bigint) as steps, cast(${head} as text) as head`,
  )
  return sql`update ledger_accounts as a
    set balance_micros = a.balance_micros + m.micros, deposited_micros = a.deposited_micros + m.deposited,
      transfers = a.transfers + m.steps, head = coalesce(m.head, a.head)
    from (${sql.join(rows, sql` union all `)}) as m
    where a.id = m.id
      and (m.floor is null or a.balance_micros + m.micros >= m.floor)
      and abs(a.balance_micros + m.micros) <= ${MOST} and abs(a.deposited_micros + m.deposited) <= ${MOST}
      and (m.floor is null or m.deposited = 0
        or (a.deposited_micros + m.deposited >= 0 and a.balance_micros + m.deposited >= 0))
      and exists (select 1 from ledger_transfers where key = ${key} and hash = ${hash})`
}

function refusal(
  entries: readonly NewEntry[],
  moved: readonly Entry[],
  accounts: readonly LedgerAccountRow[],
): GazewayError {
  const isTooLarge = (micros = 0, more = 0) => Math.abs(micros + more) > MOST_MICROS
  const over = accounts.find(
    ({ balance_micros, deposited_micros }, i) =>
      isTooLarge(balance_micros, moved[i]?.micros) || isTooLarge(deposited_micros, moved[i]?.deposited),
  )
  return over === undefined ? short(entries, accounts) : tooLarge(over)
}

function tooLarge({ id }: LedgerAccountRow): GazewayError {
  return new GazewayError(
    'balance_too_large',
    `${id} would go beyond ${toUsd(MOST_MICROS)} USD, the most that an account can hold or owe; nothing was moved. ` +
      'Use another account, or spend some first.',
  )
}

function short(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): GazewayError {
  const left = (i: number, floor: Micros | null = 0) => (accounts[i]?.balance_micros ?? 0) - (floor ?? -Infinity)
  const at = entries.findIndex(({ micros, floor }, i) => micros < 0 && left(i, floor) + micros < 0)
  if (at === -1) return shortOfDeposits(entries, accounts)
  const { account, micros, floor } = entries[at] as NewEntry
  return new GazewayError(
    'insufficient_credit',
    `${toUsd(-micros)} USD are needed and ${toUsd(Math.max(0, left(at, floor)))} are left in ${account.id}. ` +
      'Deposit funds, ask for less, or have the credit limit raised.',
  )
}

function shortOfDeposits(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): GazewayError {
  const at = entries.findIndex(({ deposited = 0 }, i) => depositedIn(accounts[i] as LedgerAccountRow) + deposited < 0)
  const { account, deposited = 0 } = entries[at] as NewEntry
  return new GazewayError(
    'insufficient_credit',
    `${toUsd(-deposited)} USD of deposits are needed and ${toUsd(depositedIn(accounts[at] as LedgerAccountRow))} are ` +
      `left in ${account.id}. Credit, and what was earned from it, cannot be paid out: deposit funds, or ask for less.`,
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
  entries: readonly Entry[],
  first: LedgerAccountRow,
): LedgerTransferRow {
  const stored = JSON.stringify(entries)
  const row = { key, chain: first.id, position: first.transfers + 1, kind, entries: stored, memo, at }
  return { ...row, hash: transferHash(first.head, row) }
}

async function earlier(trx: Transaction<Schema>, row: LedgerTransferRow): Promise<Transfer> {
  const found = await trx
    .selectFrom('ledger_transfers')
    .selectAll()
    .where('key', '=', row.key)
    .executeTakeFirstOrThrow()
  const same = found.kind === row.kind && amountsOf(found) === amountsOf(row) && found.memo === row.memo
  if (same) return toTransfer(found)
  throw new GazewayError('conflict', `The ledger already has another transfer under ${row.key}.`)
}

/** What a transfer moves; the deposited part of it is that of the moment at which it was made. */
const amountsOf = (row: LedgerTransferRow): string =>
  JSON.stringify(toTransfer(row).entries.map(({ account, micros }) => ({ account, micros })))

/** A stored row as the transfer that it is. */
function toTransfer(row: LedgerTransferRow): Transfer {
  return { ...row, entries: JSON.parse(row.entries) }
}
