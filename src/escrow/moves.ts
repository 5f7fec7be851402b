import { sql, type Transaction } from 'kysely'
import type { SettlementMode } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import { statusesBefore } from '../store/status-table.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import type { Micros } from '../text/money.ts'
import { accountOf, escrowAccount } from '../wallet/accounts.ts'
import { lockedPayerAccount } from '../wallet/bind-wallet.ts'
import { giveBackSpent, spendWithin } from '../wallet/budgets.ts'
import { post } from '../wallet/ledger.ts'
import type { Limits } from '../wallet/limits.ts'
import { dayOf } from '../wallet/spending.ts'
import { statusAt } from './escrow-record.ts'
import { ESCROW_TRANSITIONS } from './escrow-statuses.ts'
import type { Tally } from './escrow-tally.ts'

/** Who pays for a reward, as it was found before the transaction. */
export interface Funding {
  /** The id of the key whose account pays. */
  payer: string
  limits: Limits
  /** Where rewards are paid that were locked from deposits. */
  settlement: SettlementMode
  /** The token that an amount is in, by where it is paid. */
  tokenOf: (mode: SettlementMode) => string
}

/** Money that is to be locked. */
export interface NewLock {
  id: string
  taskId: string
  micros: Micros
  recipient: string | null
  at: string
  expiresAt: string
}

/**
 * Locks money for a task: out of the payer's account, into that of the escrow. It is paid on a chain only where all of it
 * comes from deposits: credit, which nobody paid in, stays in the ledger.
 *
 * @throws GazewayError `conflict` when the task has an escrow that is not refunded, be it one that paid,
 *   `insufficient_credit` or `budget_reached`; the transaction must then be given up
 */
export async function lock(trx: Transaction<Schema>, funding: Funding, of: NewLock, tally: Tally): Promise<EscrowRow> {
  const { payer, limits, tokenOf, settlement } = funding
  const row: EscrowRow = {
    id: of.id,
    task_id: of.taskId,
    amount_micros: of.micros,
    token: tokenOf('ledger'),
    payer,
    recipient: of.recipient,
    status: 'locked',
    counted_on: dayOf(of.at),
    counted_group: limits.groupId,
    settlement_mode: 'ledger',
    attestation_id: null,
    reason: null,
    created_at: of.at,
    expires_at: of.expiresAt,
    released_at: null,
    settled_at: null,
    refunded_at: null,
  }
  const { numAffectedRows } = await runBuilt(trx, 'lock escrow', Object.values(row), () =>
    trx
      .insertInto('escrows')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
  if (numAffectedRows !== 1n) throw await hasOne(trx, of)
  const { entries } = await post(trx, {
    key: `escrow:${of.id}:lock`,
    kind: 'lock',
    entries: [
      { account: accountOf('caller', payer), micros: -of.micros, floor: -limits.creditMicros },
      { account: escrowAccount(of.id, payer), micros: of.micros },
    ],
    at: of.at,
  })
  // After the accounts, as every move takes them: two that took them crosswise would wait for each other.
  const spender = { id: payer, groupId: limits.groupId }
  await spendWithin(trx, { spender, day: row.counted_on, micros: of.micros })
  tally.add('escrow_locked', 1)
  tally.add('locked_micros', of.micros)
  const isDeposited = entries.some(({ deposited }) => deposited === of.micros)
  if (settlement === 'ledger' || !isDeposited) return row
  const paid = { settlement_mode: settlement, token: tokenOf(settlement) }
  await trx.updateTable('escrows').set(paid).where('id', '=', of.id).execute()
  return { ...row, ...paid }
}

/**
 * Fixes whom the escrow of a completed task pays, where nobody was named: the key that completed it.
 *
 * @param task its row is locked in this transaction
 */
export async function fixRecipient(
  trx: Transaction<Schema>,
  { escrow_id: id, claimed_by: recipient }: Pick<TaskRow, 'escrow_id' | 'claimed_by'>,
): Promise<void> {
  if (id === null || recipient === null) return
  await runBuilt(trx, 'fix recipient', [recipient, id], () =>
    trx
      .updateTable('escrows')
      .set({ recipient })
      .where('id', '=', id)
      .where(sql<boolean>`recipient is null and status in ('locked', 'expired')`)
      .compile(),
  )
}

/** Why a task can have no further escrow: one holds its reward, or has paid it, and another would pay it twice. */
async function hasOne(trx: Transaction<Schema>, { taskId, at }: NewLock): Promise<GazewayError> {
  const row = await trx
    .selectFrom('escrows')
    .select(['id', 'status', 'expires_at'])
    .where('task_id', '=', taskId)
    .where('status', '<>', 'refunded')
    .executeTakeFirst()
  const conflict = (message: string) => new GazewayError('conflict', message, { param: 'task_id' })
  if (!row) return conflict(`The escrow of task ${taskId} was refunded at this moment; try again.`)
  const status = statusAt(row, at)
  const named = `Task ${taskId} has an escrow, ${row.id}, that is ${status}`
  if (status === 'locked') return conflict(`${named}; there is one at a time.`)
  if (status === 'expired') return conflict(`${named}; have it refunded before you lock another.`)
  return conflict(`${named}: the task has been paid, and another would pay it twice. Make another task.`)
}

/** Whom a released escrow is paid to. */
export interface Payee {
  /** As the escrow names it: a key's id or an address. */
  recipient: string
  /** The owner of the ledger account that the money goes to; null where it is paid on a chain. */
  account: string | null
}

/**
 * Pays an escrow out: into the recipient's account, or aside until a chain has paid it.
 *
 * @param row as it is locked in this transaction; its status is `locked`
 */
export async function release(
  trx: Transaction<Schema>,
  row: EscrowRow,
  { payee, attestationId, tokenOf, at }: { payee: Payee; attestationId: string; at: string } & Pick<Funding, 'tokenOf'>,
  tally: Tally,
): Promise<EscrowRow> {
  const { recipient, account } = payee
  const settlement_mode = account === null ? 'evm' : 'ledger'
  const released = {
    ...row,
    status: 'released',
    recipient,
    settlement_mode,
    token: tokenOf(settlement_mode),
    attestation_id: attestationId,
    released_at: at,
  }
  await change(trx, 'release', released)
  // A wallet's own account was found before the transaction, and a key may have been bound to it since.
  const wallet = WalletAddress.safeParse(account).data
  const owner = wallet === undefined ? account : await lockedPayerAccount(trx, wallet)
  await post(trx, {
    key: `escrow:${row.id}:release`,
    kind: 'release',
    entries: [
      { account: escrowAccount(row.id, row.payer), micros: -row.amount_micros },
      {
        account: owner === null ? accountOf('settling', row.payer) : accountOf('caller', owner),
        micros: row.amount_micros,
      },
    ],
    at,
  })
  tally.move('escrow_locked', 'escrow_released')
  tally.add('locked_micros', -row.amount_micros)
  tally.add('paid_micros', row.amount_micros)
  return released
}

/**
 * Gives an escrow's money back to its payer, who may spend it again on the day on which it was locked.
 *
 * @param row as it is locked in this transaction; its status is `locked` or `expired`
 */
export async function refund(
  trx: Transaction<Schema>,
  row: EscrowRow,
  { reason, at }: { reason: string | null; at: string },
  tally: Tally,
): Promise<EscrowRow> {
  const { id, payer, amount_micros: micros, counted_on: day, counted_group: groupId } = row
  const refunded = { ...row, status: 'refunded', reason, refunded_at: at }
  await change(trx, 'refund', refunded)
  await post(trx, {
    key: `escrow:${id}:refund`,
    kind: 'refund',
    entries: [
      { account: escrowAccount(id, payer), micros: -micros },
      { account: accountOf('caller', payer), micros },
    ],
    at,
  })
  await giveBackSpent(trx, { spender: { id: payer, groupId }, day, micros })
  tally.move(row.status === 'expired' ? 'escrow_expired' : 'escrow_locked', 'escrow_refunded')
  tally.add('locked_micros', -micros)
  tally.add('refunded_micros', micros)
  return refunded
}

/** Notes that a chain has paid an escrow: the money has left the ledger as deposits came into it. */
export async function settle(
  trx: Transaction<Schema>,
  row: EscrowRow,
  { at }: { at: string },
  tally: Tally,
): Promise<void> {
  await change(trx, 'settle', { ...row, status: 'settled', settled_at: at })
  await post(trx, {
    key: `escrow:${row.id}:settle`,
    kind: 'settle',
    entries: [
      { account: accountOf('settling', row.payer), micros: -row.amount_micros },
      { account: accountOf('deposits', row.payer), micros: row.amount_micros },
    ],
    at,
  })
  tally.move('escrow_released', 'escrow_settled')
}

/** The row of an escrow, locked until the transaction ends. */
export function lockedRow(trx: Transaction<Schema>, id: string): Promise<EscrowRow | undefined> {
  return trx.selectFrom('escrows').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** The rows of escrows, locked as by {@link lockedRow}, in the order of their ids. */
export function lockedRows(trx: Transaction<Schema>, ids: readonly string[]): Promise<EscrowRow[]> {
  return trx.selectFrom('escrows').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()
}

/** Writes what an event changes, where the table lets it happen. */
async function change(
  trx: Transaction<Schema>,
  event: 'release' | 'settle' | 'refund',
  { id, ...row }: EscrowRow,
): Promise<void> {
  const { status, token, recipient, settlement_mode, attestation_id, reason, released_at, settled_at, refunded_at } =
    row
  const { numUpdatedRows } = await trx
    .updateTable('escrows')
    .set({ status, token, recipient, settlement_mode, attestation_id, reason, released_at, settled_at, refunded_at })
    .where('id', '=', id)
    .where('status', 'in', statusesBefore(ESCROW_TRANSITIONS, event))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n) throw new RangeError(`Escrow ${id} cannot ${event}: it was not locked in its transaction.`)
}
