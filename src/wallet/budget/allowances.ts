import { sql, type Transaction } from 'kysely'
import type { CallSpend } from '../../calls/call-spend.ts'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { AllowanceRow } from '../../store/tables/wallet-tables.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { accountOf, lockAccounts } from '../ledger/accounts.ts'
import type { NewEntry } from '../ledger/deposited-part.ts'
import { post } from '../ledger/ledger.ts'
import { type BudgetLeft, budgetReached, tightestBudget } from './budgets.ts'
import { shareFor, type Wish } from './call-share.ts'
import { HeldByOthers } from './held-by-others.ts'
import { addSpending, type Spender } from './spending.ts'

/**
 * Lease of an allowance in milliseconds. When its holder has not renewed it for this long, it is presumed spent, see
 * `presumed-spending.ts`.
 */
export const LEASE_MS = 45_000
/**
 * Divisor of the remaining money: at most this part is reserved beyond the need of one call. The rest is for other
 * processes.
 */
const SHARE = 4
/**
 * Divisor of the smallest budget: at most this part is reserved beyond the need of one call. A process that dies leaves no
 * more than that in doubt.
 */
const IDLE_SHARE = 100

/** Owner and scope of an allowance. */
export interface AllowanceOf {
  id: string
  /** The process that spends it. */
  holder: string
  spender: Spender
  /** UTC day on which its calls begin. */
  day: string
  /** Credit of the key beyond its deposits; null when its calls are not charged. */
  creditMicros: Micros | null
}

/** One change of an allowance by its holder. */
export interface Turn {
  /** Sequence number, from 1. It makes a change idempotent. */
  turn: number
  at: string
}

/** Need of a call from an allowance, and what the process has of it. */
export interface Missing extends Wish {
  /** Size that suits the calls of the process. */
  size: Micros
  /** Free and held by the process already. */
  free: Micros
  /** Spent and not written yet, or held by the call itself, so that the store takes it for reserved by others. */
  unwritten: Micros
  /** Usage beyond reservations of its key and session that is not written yet. */
  owed(owner: string): Micros
}

/** A reservation of money and budget. */
export interface Granted {
  granted: Micros
  /** Amount that is left beside it. */
  left: Micros
  /** Most that the process may hold beyond the need of one call. */
  idle: Micros
}

/**
 * Reserves money and budget: what the next call lacks, and up to the size that suits further calls.
 *
 * @throws HeldByOthers when only reservations are in the way; other GazewayErrors `budget_reached` and
 *   `insufficient_credit`
 */
export function takeAllowance(
  store: Store,
  of: AllowanceOf,
  { turn, at, ...missing }: Turn & Missing,
): Promise<Granted> {
  return store.write(async (trx) => {
    // Lock order of everything that spends: accounts, allowances, spending.
    const credit = await creditOf(trx, of)
    const made = await trx
      .selectFrom('allowances')
      .select(['turn', 'granted', 'charged', 'micros'])
      .where('id', '=', of.id)
      .forUpdate()
      .executeTakeFirst()
    // The allowance was taken before: the connection was lost after the commit.
    if (made && made.turn >= turn) return { granted: made.granted, left: 0, idle: 0 }
    // Its money was given back while the process slept, and is taken again.
    const unheld = made && of.creditMicros !== null && made.charged === 0 ? Number(made.micros) : 0
    const { size, free, owed } = missing
    const budget = await tightestBudget(trx, of.spender, { day: of.day, at, owed })
    const left = Math.min(credit.left - unheld, budget?.left ?? Infinity)
    if (left < missing.least - free) throw shortOf(of.spender, { credit, budget }, missing)
    const lacking = Math.max(0, shareFor(missing, left + free) - free)
    const idle = budget === null ? Infinity : Math.floor(budget.smallest / IDLE_SHARE)
    const granted = Math.max(lacking, Math.min(Math.min(size, idle) - free, Math.floor(left / SHARE)))
    if (granted === 0) return { granted, left, idle }
    if (of.creditMicros !== null)
      await post(trx, moved(of, { turn, at }, { kind: 'reserve', micros: granted + unheld, floor: -of.creditMicros }))
    await addTo(trx, of, { turn, at }, granted)
    return { granted, left: left - granted, idle }
  })
}

/** Amount left of a limit, and what would be left without the reservations of calls. */
interface Left {
  left: number
  unspent: number
}

/** Reads what a key's calls may still be charged; `Infinity` when they are not charged. Locks its accounts. */
async function creditOf(trx: Transaction<Schema>, { spender, creditMicros }: AllowanceOf): Promise<Left> {
  if (creditMicros === null) return { left: Infinity, unspent: Infinity }
  const [caller, held] = await lockMoney(trx, spender)
  const left = (caller?.balance_micros ?? 0) + creditMicros
  return { left, unspent: left + (held?.balance_micros ?? 0) }
}

/** Refusal of a call that budget or credit do not reach for. */
function shortOf(
  spender: Spender,
  { credit, budget }: { credit: Left; budget: BudgetLeft | null },
  { least, free, unwritten }: Missing,
): GazewayError {
  const unspent = Math.min(credit.unspent, budget?.unspent ?? Infinity) - unwritten
  if (credit.unspent < 0) return debtOpen(spender, -credit.unspent)
  const refusal =
    budget && budget.left + free < least
      ? budgetReached({ ...budget, left: budget.left + free }, least)
      : shortOfCredit(spender, credit.left + free, least)
  if (unspent < least) return refusal
  return new HeldByOthers(refusal.code, `${refusal.message} Calls in flight hold the rest; one that ends frees it.`)
}

/** Locks the accounts of a key's money, in the order of everything that spends. */
export const lockMoney = (trx: Transaction<Schema>, { id }: Spender) =>
  lockAccounts(trx, [accountOf('caller', id), accountOf('held', id)])

/** Error for an account that usage beyond reservations has brought below its credit. */
const debtOpen = ({ id }: Spender, debt: Micros): GazewayError =>
  new GazewayError(
    'debt_open',
    `The account of ${id} owes ${toUsd(debt)} USD beyond its credit, for usage beyond what its calls had reserved. ` +
      'Deposit at least as much, or have the credit limit raised.',
  )

function shortOfCredit({ id }: Spender, left: Micros, needed: Micros): GazewayError {
  return new GazewayError(
    'insufficient_credit',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} USD is left in the account of ${id}. ` +
      'Deposit funds, lower max_tokens, or have the credit limit raised.',
  )
}

/** Error for a charge whose allowance is not there any more. */
export const givenBack = (): GazewayError =>
  new GazewayError('upstream_timeout', 'The answer came after its reservation had expired; nothing was charged. Retry.')

/** Builds the transfer that holds or frees the money of an allowance. */
export function moved(
  { id, spender }: Pick<AllowanceOf, 'id' | 'spender'>,
  { turn, at }: { turn: number | string; at: string },
  { kind, micros, floor }: { kind: 'reserve' | 'void'; micros: Micros; floor?: Micros },
) {
  const [from, to] = kind === 'reserve' ? (['caller', 'held'] as const) : (['held', 'caller'] as const)
  const entries: NewEntry[] = [
    { account: accountOf(from, spender.id), micros: -micros, ...(floor !== undefined && { floor }) },
    { account: accountOf(to, spender.id), micros },
  ]
  return { key: `allowance:${id}:${turn}`, kind, entries, at }
}

async function addTo(trx: Transaction<Schema>, of: AllowanceOf, { turn, at }: Turn, granted: Micros): Promise<void> {
  const row: AllowanceRow = {
    id: of.id,
    holder: of.holder,
    key_id: of.spender.id,
    group_id: of.spender.groupId,
    day: of.day,
    charged: Number(of.creditMicros !== null),
    micros: granted,
    turn,
    granted,
    renewed_at: at,
    presumed_at: null,
    session: of.spender.session ?? null,
  }
  await trx
    .insertInto('allowances')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        micros: sql`allowances.micros + excluded.micros`,
        turn: sql`excluded.turn`,
        granted: sql`excluded.granted`,
        renewed_at: sql`excluded.renewed_at`,
        charged: sql`excluded.charged`,
        presumed_at: null,
      }),
    )
    .execute()
}

/**
 * Gives back the part of an allowance that its holder does not need. Does nothing when a sweep gave it back before.
 * Deletes an allowance that is empty.
 */
export async function giveBackAllowance(
  store: Store,
  of: AllowanceOf,
  { micros, ...turn }: Turn & { micros: Micros },
): Promise<void> {
  await store.write(async (trx) => {
    if (of.creditMicros !== null) await lockMoney(trx, of.spender)
    const row = await trx
      .selectFrom('allowances')
      .select(['turn', 'micros', 'charged'])
      .where('id', '=', of.id)
      .forUpdate()
      .executeTakeFirst()
    // Given back before, by this turn or by a sweep.
    if (!row || row.turn >= turn.turn) return
    const returned = Math.min(micros, Number(row.micros))
    if (row.charged === 1 && returned > 0) await post(trx, moved(of, turn, { kind: 'void', micros: returned }))
    await trx
      .updateTable('allowances')
      .set({ micros: sql`micros - ${returned}`, turn: turn.turn, granted: 0 })
      .where('id', '=', of.id)
      .execute()
    await trx.deleteFrom('allowances').where('id', '=', of.id).where('micros', '=', 0).execute()
  })
}

/** Amount spent from one allowance. */
export interface AllowanceSpent {
  id: string
  micros: Micros
}

/**
 * Subtracts charged amounts from their allowances. The caller counts them as spent in the same transaction.
 *
 * @returns ids of allowances that no longer hold the money: it was given back
 */
export async function chargeAllowances(
  trx: Transaction<Schema>,
  spent: readonly AllowanceSpent[],
): Promise<readonly string[]> {
  const gone: string[] = []
  for (const { id, micros } of summed(spent)) {
    // A call that may cost nothing reserves nothing, and has no allowance in the store.
    if (micros === 0) continue
    const { numUpdatedRows } = await trx
      .updateTable('allowances')
      .set({ micros: sql`micros - ${micros}` })
      .where('id', '=', id)
      .where('charged', '=', 1)
      .where('micros', '>=', micros)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) gone.push(id)
  }
  return gone
}

/** Subtracts recorded amounts from their allowances, as far as these reach: money is not held for them. */
async function spendAllowances(trx: Transaction<Schema>, spent: readonly AllowanceSpent[]): Promise<void> {
  for (const { id, micros } of summed(spent)) {
    if (micros === 0) continue
    await trx
      .updateTable('allowances')
      .set({ micros: sql`case when micros > ${micros} then micros - ${micros} else 0 end` })
      .where('id', '=', id)
      .where('charged', '=', 0)
      .execute()
  }
}

/** Reserved amount that the operator bears of a call whose key is charged. */
export interface AllowanceBorne extends AllowanceSpent {
  spender: Spender
  callId: string
  at: string
}

/**
 * Subtracts what the operator bears from allowances of charged calls, as far as these reach, and gives the money that is
 * held for it back. The caller has locked that money, and counts the amounts as spent in the same transaction.
 */
export async function bearAllowances(trx: Transaction<Schema>, borne: readonly AllowanceBorne[]): Promise<void> {
  for (const { id, spender, callId, at, micros } of borne) {
    const held = trx.selectFrom('allowances').select('micros').where('id', '=', id).where('charged', '=', 1).forUpdate()
    const freed = Math.min(micros, Number((await held.executeTakeFirst())?.micros ?? 0))
    if (freed === 0) continue
    await trx
      .updateTable('allowances')
      .set({ micros: sql`micros - ${freed}` })
      .where('id', '=', id)
      .execute()
    await post(trx, moved({ id, spender }, { turn: `borne:${callId}`, at }, { kind: 'void', micros: freed }))
  }
}

/** Sums by allowance, sorted by id. */
function summed(spent: readonly AllowanceSpent[]): AllowanceSpent[] {
  const sums = new Map<string, Micros>()
  for (const { id, micros } of spent) sums.set(id, (sums.get(id) ?? 0) + micros)
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, micros]) => ({ id, micros }))
}

/**
 * Writes the spending of recorded calls and subtracts it from their allowances. Spending counts even when an admin
 * has released the allowance meanwhile.
 */
export async function writeCallSpending(trx: Transaction<Schema>, spends: readonly CallSpend[]): Promise<void> {
  await spendAllowances(
    trx,
    spends.flatMap(({ allowanceId, micros, beyondMicros = 0 }) =>
      allowanceId === null ? [] : [{ id: allowanceId, micros: micros - beyondMicros }],
    ),
  )
  await addSpending(trx, 'recorded', spends)
}

/**
 * Renews the lease of a process's allowances for another {@link LEASE_MS}; they are no longer presumed spent. Empty
 * allowances are not renewed and expire.
 * An allowance becomes empty when its last amount is spent after the rest was given back; nothing else deletes it.
 */
export async function renewAllowances({ db }: Store, holder: string, at: string): Promise<void> {
  await db
    .updateTable('allowances')
    .set({ renewed_at: at, presumed_at: null })
    .where('holder', '=', holder)
    .where('micros', '>', 0)
    .execute()
}
