import { type RawBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import { runTogether, type Statement } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { LedgerAccountRow, LedgerTransferRow } from '../../store/tables/wallet-tables.ts'
import { MAX_MICROS, type Micros, toUsd } from '../../text/money.ts'
import { lockAccounts } from './accounts.ts'
import { closedUntil, isOpenAt } from './closed-periods.ts'
import { depositedIn, type NewEntry, withDeposited } from './deposited-part.ts'
import { type Entry, type Transfer, type TransferKind, transferHash } from './transfer.ts'

/** A transfer to post. */
export interface NewTransfer {
  /** Idempotency key of printable ASCII. The same key never moves money twice. */
  key: string
  kind: TransferKind
  /** Two or more entries, each on another account, that sum to zero. */
  entries: readonly NewEntry[]
  /** Reason, for readers of the ledger. Printable ASCII. */
  memo?: string
  /** RFC 3339 UTC with milliseconds. */
  at: string
}

const MOST = sql.lit(MAX_MICROS)
const PRINTABLE = /^[\x20-\x7e]{1,512}$/

/**
 * Moves money between accounts within a write transaction. A transfer is immutable, happens once per `key`, and is
 * chained by its hash to the previous one on its first account.
 *
 * A transfer into a closed period is dated to the first moment after it.
 *
 * @returns the stored transfer with the deposited part of each entry; the earlier one when `key` was used before
 * @throws GazewayError the transaction must then be rolled back:
 * - `insufficient_credit` when an account would fall below its floor or lacks the deposits to give
 * - `balance_too_large` when an account would exceed {@link MAX_MICROS}
 * - `conflict` when `key` was used for another transfer
 * @throws RangeError for a malformed transfer
 *
 * @example
 * import { accountOf } from './accounts.ts'
 *
 * const capture = (trx: Parameters<typeof post>[0]) =>
 *   post(trx, {
 *     key: 'capture:call_0199…',
 *     kind: 'capture',
 *     entries: [
 *       { account: accountOf('held', 'key_0199…'), micros: -1_500 },
 *       { account: accountOf('revenue', 'key_0199…'), micros: 500 },
 *       { account: accountOf('upstream_cost', 'key_0199…'), micros: 1_000 },
 *     ],
 *     at: new Date().toISOString(),
 *   })
 */
export async function post(trx: Transaction<Schema>, transfer: NewTransfer): Promise<Transfer> {
  const entries = transfer.entries.toSorted((a, b) => (a.account.id < b.account.id ? -1 : 1))
  check(transfer, entries)
  const accounts = await lockAccounts(
    trx,
    entries.map((entry) => entry.account),
  )
  const moved = withDeposited(entries, accounts)
  const row = toRow(transfer, moved, accounts[0] as LedgerAccountRow)
  const [inserted, changed] = await runTogether(trx, [insertion(trx, row), move(trx, { entries, moved, row })])
  if (inserted?.numAffectedRows === 0n) {
    const until = await closedUntil(trx)
    return (await earlier(trx, row)) ?? post(trx, { ...transfer, at: until as string })
  }
  if (changed?.numAffectedRows !== BigInt(entries.length)) throw refusal(entries, moved, accounts)
  return toTransfer(row)
}

function insertion(trx: Transaction<Schema>, row: LedgerTransferRow): Statement {
  return {
    form: 'insert transfer',
    parameters: [...Object.values(row), row.at],
    build: () =>
      trx
        .insertInto('ledger_transfers')
        .columns(Object.keys(row) as Array<keyof LedgerTransferRow>)
        .expression(
          trx
            .selectNoFrom((eb) => Object.entries(row).map(([column, value]) => eb.val(value).as(column)))
            .where(isOpenAt(row.at)),
        )
        .onConflict((conflict) => conflict.column('key').doNothing())
        .compile(),
  }
}

/**
 * Builds the statement that moves the money within the floors, and advances the chain of the first account. It does
 * nothing when another transfer has the key.
 */
function move(
  trx: Transaction<Schema>,
  { entries, moved, row }: { entries: readonly NewEntry[]; moved: readonly Entry[]; row: LedgerTransferRow },
): Statement {
  const { key, chain, hash } = row
  const moves = entries.map(({ account: { id }, micros, floor = 0 }, i) => {
    // Incoming money is never refused, even when a lowered limit leaves the account below its floor.
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

/** @param moves account, amount, deposited part, floor, steps and head of each entry */
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
  const isTooLarge = (micros = 0, more = 0) => Math.abs(micros + more) > MAX_MICROS
  const over = accounts.find(
    ({ balance_micros, deposited_micros }, i) =>
      isTooLarge(balance_micros, moved[i]?.micros) || isTooLarge(deposited_micros, moved[i]?.deposited),
  )
  return over === undefined ? short(entries, accounts) : tooLarge(over)
}

function tooLarge({ id }: LedgerAccountRow): GazewayError {
  return new GazewayError(
    'balance_too_large',
    `${id} would go beyond ${toUsd(MAX_MICROS)} USD, the most that an account can hold or owe; nothing was moved. ` +
      'Use another account, or spend some of it first.',
  )
}

function short(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): GazewayError {
  const left = (i: number, floor: Micros | null = 0) => (accounts[i]?.balance_micros ?? 0) - (floor ?? -Infinity)
  const at = entries.findIndex(({ micros, floor }, i) => micros < 0 && left(i, floor) + micros < 0)
  if (at === -1) return shortOfDeposits(entries, accounts)
  const { account, micros, floor } = entries[at] as NewEntry
  return new GazewayError(
    'insufficient_credit',
    `${toUsd(-micros)} USD is needed and ${toUsd(Math.max(0, left(at, floor)))} USD is left in ${nameOf(account)}. ` +
      'Deposit funds, request less, or have the credit limit raised.',
  )
}

function shortOfDeposits(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): GazewayError {
  const at = entries.findIndex(({ deposited = 0 }, i) => depositedIn(accounts[i] as LedgerAccountRow) + deposited < 0)
  const { account, deposited = 0 } = entries[at] as NewEntry
  return new GazewayError(
    'insufficient_credit',
    `${toUsd(-deposited)} USD of deposits is needed and ${toUsd(depositedIn(accounts[at] as LedgerAccountRow))} USD is ` +
      `left in ${nameOf(account)}. Credit and money earned from it cannot be paid out. Deposit funds, or request less.`,
  )
}

/** Names an account for its caller. */
const nameOf = ({ id, kind, owner }: NewEntry['account']): string =>
  kind === 'caller' ? `the account of ${owner}` : `the account ${id}`

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

/** Finds the transfer that used the key before. @throws GazewayError `conflict` when it is another one */
async function earlier(trx: Transaction<Schema>, row: LedgerTransferRow): Promise<Transfer | null> {
  const found = await trx.selectFrom('ledger_transfers').selectAll().where('key', '=', row.key).executeTakeFirst()
  if (found === undefined) return null
  const same = found.kind === row.kind && amountsOf(found) === amountsOf(row) && found.memo === row.memo
  if (same) return toTransfer(found)
  throw new GazewayError(
    'conflict',
    `${row.key} was used before, for another amount or account. Nothing was moved; use another reference.`,
  )
}

/** Account and amount of each entry. Compared without the deposited part, which depends on the time of the transfer. */
const amountsOf = (row: LedgerTransferRow): string =>
  JSON.stringify(toTransfer(row).entries.map(({ account, micros }) => ({ account, micros })))

/** Parses a stored row. */
function toTransfer(row: LedgerTransferRow): Transfer {
  return { ...row, entries: JSON.parse(row.entries) }
}
