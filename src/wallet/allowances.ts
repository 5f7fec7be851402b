import { sql, type Transaction } from 'kysely'
import type { CallSpend } from '../calls/call-spend.ts'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { AllowanceRow } from '../store/tables/wallet-tables.ts'
import { type Micros, toUsd } from '../text/money.ts'
import { accountOf, lockAccounts } from './accounts.ts'
import { budgetReached, tightestBudget } from './budgets.ts'
import { type NewEntry, post } from './ledger.ts'
import { addSpending, type Spender } from './spending.ts'

/** How long after its last renewal an allowance is its holder's, in milliseconds; then a sweep gives it back. */
export const LEASE_MS = 45_000
/** No more than this part of what is left is set aside beyond what a call needs: other processes have calls, too. */
const SHARE = 4

/** Whose allowance it is, and for which calls. */
export interface AllowanceOf {
  id: string
  /** The process that spends it. */
  holder: string
  spender: Spender
  /** The UTC day on which its calls begin. */
  day: string
  /** How far the key may spend beyond its deposits; null where its calls are not charged. */
  creditMicros: Micros | null
}

/** A change of an allowance by its holder. */
export interface Turn {
  /** From 1; each change has its own, so that none is made twice. */
  turn: number
  at: string
}

/**
 * Sets money and budget aside for calls to come: at least `needed`, at most `wanted`.
 *
 * @returns how much
 * @throws GazewayError `insufficient_credit` or `budget_reached` where less than `needed` is left
 */
export function takeAllowance(
  store: Store,
  of: AllowanceOf,
  { needed, wanted, ...turn }: Turn & { needed: Micros; wanted: Micros },
): Promise<Micros> {
  return store.write(async (trx) => {
    // Accounts, allowances, spending: in this order whoever spends takes them, so that no two wait for each other.
    const credit = await creditLeft(trx, of)
    const made = await trx
      .selectFrom('allowances')
      .select(['turn', 'granted'])
      .where('id', '=', of.id)
      .forUpdate()
      .executeTakeFirst()
    // The connection was lost after it was made durable.
    if (made && made.turn >= turn.turn) return made.granted
    const budget = await tightestBudget(trx, of.spender, of.day)
    if (budget && budget.left < needed) throw budgetReached(budget, needed)
    if (credit < needed) throw shortOfCredit(of.spender, credit, needed)
    const left = Math.min(credit, budget?.left ?? Infinity)
    const granted = Math.max(needed, Math.min(wanted, Math.floor(left / SHARE)))
    if (of.creditMicros !== null)
      await post(trx, moved(of, turn, { kind: 'reserve', micros: granted, floor: -of.creditMicros }))
    await addTo(trx, of, turn, granted)
    return granted
  })
}

/** What a key's calls may still be charged; without end where they are not. Its accounts stay locked. */
async function creditLeft(trx: Transaction<Schema>, { spender, creditMicros }: AllowanceOf): Promise<number> {
  if (creditMicros === null) return Infinity
  const [caller] = await lockMoney(trx, spender)
  return (caller?.balance_micros ?? 0) + creditMicros
}

const lockMoney = (trx: Transaction<Schema>, { id }: Spender) =>
  lockAccounts(trx, [accountOf('caller', id), accountOf('held', id)])

function shortOfCredit({ id }: Spender, left: Micros, needed: Micros): GazewayError {
  return new GazewayError(
    'insufficient_credit',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} are left in the account of ${id}. ` +
      'Deposit funds, ask for less with max_tokens, or have the credit limit raised.',
  )
}

function moved(
  { id, spender }: Pick<AllowanceOf, 'id' | 'spender'>,
  { turn, at }: Turn,
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
      }),
    )
    .execute()
}

/**
 * Gives a part of an allowance back that its holder does not need, as far as it is there: a sweep may have given it back.
 * An allowance of nothing is gone.
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
      .select(['turn', 'micros'])
      .where('id', '=', of.id)
      .forUpdate()
      .executeTakeFirst()
    // Given back already, by this change or by a sweep.
    if (!row || row.turn >= turn.turn) return
    const returned = Math.min(micros, Number(row.micros))
    if (of.creditMicros !== null && returned > 0) await post(trx, moved(of, turn, { kind: 'void', micros: returned }))
    await trx
      .updateTable('allowances')
      .set({ micros: sql`micros - ${returned}`, turn: turn.turn, granted: 0 })
      .where('id', '=', of.id)
      .execute()
    await trx.deleteFrom('allowances').where('id', '=', of.id).where('micros', '=', 0).execute()
  })
}

/** What was spent of an allowance. */
export interface AllowanceSpent {
  id: string
  micros: Micros
}

/**
 * Takes what was spent from allowances, where it is counted as spent in the same transaction.
 *
 * @returns the ids of those that are gone, or have less: a sweep gave them back
 */
export async function spendAllowances(
  trx: Transaction<Schema>,
  spent: readonly AllowanceSpent[],
): Promise<readonly string[]> {
  const gone: string[] = []
  for (const { id, micros } of summed(spent)) {
    const { numUpdatedRows } = await trx
      .updateTable('allowances')
      .set({ micros: sql`micros - ${micros}` })
      .where('id', '=', id)
      .where('micros', '>=', micros)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) gone.push(id)
  }
  return gone
}

/** The sums by allowance, in the order of their ids. */
function summed(spent: readonly AllowanceSpent[]): AllowanceSpent[] {
  const sums = new Map<string, Micros>()
  for (const { id, micros } of spent) sums.set(id, (sums.get(id) ?? 0) + micros)
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, micros]) => ({ id, micros }))
}

/**
 * Writes what recorded calls have spent, and takes it from the allowances that it was set aside in. Where one is gone, its
 * holder was away for longer than its lease: the calls are counted all the same.
 */
export async function writeCallSpending(trx: Transaction<Schema>, spends: readonly CallSpend[]): Promise<void> {
  await spendAllowances(
    trx,
    spends.flatMap(({ allowanceId, micros }) => (allowanceId === null ? [] : [{ id: allowanceId, micros }])),
  )
  await addSpending(trx, 'recorded', spends)
}

/** Keeps a process's allowances its own for another {@link LEASE_MS}. */
export async function renewAllowances({ db }: Store, holder: string, at: string): Promise<void> {
  await db.updateTable('allowances').set({ renewed_at: at }).where('holder', '=', holder).execute()
}

/** Gives back at most `limit` allowances whose holders are gone. @returns how many */
export async function sweepAllowances(store: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - LEASE_MS).toISOString()
  const due = await store.db
    .selectFrom('allowances')
    .select('id')
    .where('renewed_at', '<=', before)
    .orderBy('renewed_at')
    .limit(limit)
    .execute()
  for (const { id } of due) await store.write((trx) => sweepOne(trx, id, { before, at: now.toISOString() }))
  return due.length
}

async function sweepOne(
  trx: Transaction<Schema>,
  id: string,
  { before, at }: { before: string; at: string },
): Promise<void> {
  const found = await trx.selectFrom('allowances').selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) return
  const spender = { id: found.key_id, groupId: found.group_id }
  if (found.charged === 1) await lockMoney(trx, spender)
  const gone = await trx
    .deleteFrom('allowances')
    .where('id', '=', id)
    .where('renewed_at', '<=', before)
    .returning('micros')
    .executeTakeFirst()
  if (!gone || found.charged === 0 || gone.micros === 0) return
  await post(trx, moved({ id, spender }, { turn: found.turn + 1, at }, { kind: 'void', micros: gone.micros }))
}
