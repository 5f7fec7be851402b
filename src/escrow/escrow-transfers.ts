import { sql, type Transaction } from 'kysely'
import type { SettlementMode } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import { statusesBefore } from '../store/status-table.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import type { Micros } from '../text/money.ts'
import { giveBackSpent, spendWithin } from '../wallet/budget/budgets.ts'
import { dayOf } from '../wallet/budget/spending.ts'
import type { Limits } from '../wallet/budget/spending-limits.ts'
import { accountOf, escrowAccount } from '../wallet/ledger/accounts.ts'
import { lockedPayerAccount } from '../wallet/ledger/bind-wallet.ts'
import { post } from '../wallet/ledger/ledger.ts'
import { statusAt } from './escrow-record.ts'
import { ESCROW_TRANSITIONS } from './escrow-statuses.ts'
import type { Tally } from './escrow-tally.ts'

/** Payer of a reward, found before the transaction. */
export interface Funding {
  /** Id of the key whose account pays. */
  payer: string
  limits: Limits
  /** Settlement of rewards that are locked from deposits. */
  settlement: SettlementMode
  /** Token of an amount, by settlement mode. */
  tokenOf: (mode: SettlementMode) => string
}

/** An amount to lock. */
export interface NewLock {
  id: string
  taskId: string
  micros: Micros
  recipient: string | null
  /** Review that releases it, from `termsOf`; null for an attestation. */
  terms: string | null
  at: string
  expiresAt: string
}

/**
 * Moves money for a task from the payer's account into that of the escrow. The escrow is paid on a chain only if all of
 * its money comes from deposits; credit stays in the ledger.
 *
 * @throws GazewayError the transaction must then be rolled back:
 * - `conflict` when the task has an escrow that is not refunded, or was paid by one
 * - `insufficient_credit` or `budget_reached`
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
    ...(of.terms !== null && { memo: of.terms }),
    at: of.at,
  })
  // Updates accounts before spending, as all transactions do: another order could deadlock.
  const spender = { id: payer, groupId: limits.groupId }
  await spendWithin(trx, { spender, day: row.counted_on, at: of.at, micros: of.micros })
  tally.add('escrow_locked', 1)
  tally.add('locked_micros', of.micros)
  const isDeposited = entries.some(({ deposited }) => deposited === of.micros)
  if (settlement === 'ledger' || !isDeposited) return row
  const paid = { settlement_mode: settlement, token: tokenOf(settlement) }
  await trx.updateTable('escrows').set(paid).where('id', '=', of.id).execute()
  return { ...row, ...paid }
}

/**
 * Sets the recipient of a completed task's escrow to the key that completed it, when none was named.
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

/** Explains why a task cannot have another escrow: one holds its reward or has paid it. */
async function hasOne(trx: Transaction<Schema>, { taskId, at }: NewLock): Promise<GazewayError> {
  const row = await trx
    .selectFrom('escrows')
    .select(['id', 'status', 'expires_at'])
    .where('task_id', '=', taskId)
    .where('status', '<>', 'refunded')
    .executeTakeFirst()
  const conflict = (message: string) => new GazewayError('conflict', message, { param: 'task_id' })
  if (!row) return conflict(`The escrow of task ${taskId} was refunded meanwhile. Retry.`)
  const status = statusAt(row, at)
  const named = `Task ${taskId} has an escrow, ${row.id}, that is ${status}`
  if (status === 'locked') return conflict(`${named}; a task has one escrow at a time.`)
  if (status === 'expired') return conflict(`${named}; refund it before you lock another.`)
  return conflict(`${named}: the task is already paid. Create another task.`)
}

/** Recipient of a released escrow. */
export interface Payee {
  /** Recipient in the escrow: a key id or an address. */
  recipient: string
  /** Owner of the credited ledger account; null when paid on a chain. */
  account: string | null
}

/**
 * Releases an escrow: into the recipient's account, or into `settling` until a chain has paid it.
 *
 * @param row locked in this transaction, with the status `locked`
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
  // The wallet's account was found before the transaction. A key may have been bound to the wallet since.
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
 * Refunds an escrow to its payer, and subtracts it from the payer's spending on the day of the lock.
 *
 * @param row locked in this transaction, with the status `locked` or `expired`
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

/** Marks an escrow as paid on a chain: its money leaves the ledger. */
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

/** Reads an escrow and locks its row until the transaction ends. */
export function lockedRow(trx: Transaction<Schema>, id: string): Promise<EscrowRow | undefined> {
  return trx.selectFrom('escrows').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Reads escrows and locks their rows as {@link lockedRow} does, in the order of their ids. */
export function lockedRows(trx: Transaction<Schema>, ids: readonly string[]): Promise<EscrowRow[]> {
  return trx.selectFrom('escrows').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()
}

/** Writes the changes of an event that the transition table allows. */
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
