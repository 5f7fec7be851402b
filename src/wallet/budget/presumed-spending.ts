import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { post } from '../ledger/ledger.ts'
import { LEASE_MS, lockMoney, moved } from './allowances.ts'

/**
 * Presumes at most `limit` allowances spent whose leases have ended: their holder is dead, or asleep.
 *
 * - Budgets go on counting what is left of them, since its calls may have cost that much.
 * - The money of charged calls is given back: who got no whole answer pays nothing.
 * - A holder that wakes up renews them.
 *
 * @returns how many
 */
export async function sweepAllowances(store: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - LEASE_MS).toISOString()
  const due = await store.db
    .selectFrom('allowances')
    .select('id')
    .where('renewed_at', '<=', before)
    .where('presumed_at', 'is', null)
    .orderBy('renewed_at')
    .limit(limit)
    .execute()
  for (const { id } of due) await store.write((trx) => presume(trx, id, { before, at: now.toISOString() }))
  // Used up by a holder that woke up.
  await store.db.deleteFrom('allowances').where('presumed_at', 'is not', null).where('micros', '=', 0).execute()
  return due.length
}

/** Presumes all allowances of a process spent that is known to be dead. */
export async function presumeHeldBy(store: Store, holder: string, now: Date): Promise<void> {
  const at = now.toISOString()
  const held = store.db.selectFrom('allowances').select('id').where('holder', '=', holder)
  for (const { id } of await held.where('presumed_at', 'is', null).execute())
    await store.write((trx) => presume(trx, id, { before: null, at }))
}

/** @param of.before the allowance is not touched when it was renewed after this time */
async function presume(
  trx: Transaction<Schema>,
  id: string,
  { before, at }: { before: string | null; at: string },
): Promise<void> {
  const found = await trx.selectFrom('allowances').selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) return
  const spender = { id: found.key_id, groupId: found.group_id }
  if (found.charged === 1) await lockMoney(trx, spender)
  let due = trx.updateTable('allowances').set({ presumed_at: at, charged: 0 }).where('id', '=', id)
  if (before !== null) due = due.where('renewed_at', '<=', before)
  const presumed = await due.where('presumed_at', 'is', null).returning(['micros', 'turn']).executeTakeFirst()
  if (!presumed) return
  const micros = Number(presumed.micros)
  // Its own name: the holder may only have been suspended, and take its next turn.
  const turn = `${presumed.turn}:swept`
  if (found.charged === 1 && micros > 0) await post(trx, moved({ id, spender }, { turn, at }, { kind: 'void', micros }))
  if (micros === 0 || isWallet(spender.id)) await trx.deleteFrom('allowances').where('id', '=', id).execute()
}

/** Wallets have no budgets that could count what is presumed. */
const isWallet = (id: string): boolean => id.startsWith('0x')

/** Reads the amounts that are presumed spent, by key and group; absent ones have none. */
export async function readPresumed(db: Kysely<Schema>, owners: readonly string[]): Promise<Map<string, Micros>> {
  if (owners.length === 0) return new Map()
  const { rows } = await sql<{ owner: string; micros: number }>`
    select key_id as owner, cast(sum(micros) as bigint) as micros from allowances
    where presumed_at is not null and key_id in (${sql.join(owners)}) group by key_id
    union all
    select group_id as owner, cast(sum(micros) as bigint) as micros from allowances
    where presumed_at is not null and group_id in (${sql.join(owners)}) group by group_id`.execute(db)
  return new Map(rows.map(({ owner, micros }) => [owner, Number(micros)]))
}

/** Sums what is presumed spent of all keys. */
export async function presumedInAll({ db }: Pick<Store, 'db'>): Promise<{ micros: Micros; keys: number }> {
  const { rows } = await sql<{ micros: number; keys: number }>`
    select cast(coalesce(sum(micros), 0) as bigint) as micros, count(distinct key_id) as keys
    from allowances where presumed_at is not null`.execute(db)
  return { micros: Number(rows[0]?.micros ?? 0), keys: Number(rows[0]?.keys ?? 0) }
}

/**
 * Releases what is presumed spent of a key, or of the keys of a group, so that their budgets have it again.
 *
 * @param owner id of the key or group
 * @returns the amount
 */
export async function releasePresumed({ db }: Pick<Store, 'db'>, owner: string): Promise<Micros> {
  const released = await db
    .deleteFrom('allowances')
    .where(({ eb, or }) => or([eb('key_id', '=', owner), eb('group_id', '=', owner)]))
    .where('presumed_at', 'is not', null)
    .returning('micros')
    .execute()
  return released.reduce((sum, { micros }) => sum + Number(micros), 0)
}

/**
 * Lowers what is presumed spent of an allowance to an amount that is proved.
 *
 * @returns the amount that was released
 */
export async function lowerPresumed(store: Store, id: string, most: Micros): Promise<Micros> {
  return store.write(async (trx) => {
    const row = await trx.selectFrom('allowances').select('micros').where('id', '=', id).forUpdate().executeTakeFirst()
    const released = Math.max(0, Number(row?.micros ?? 0) - most)
    if (released > 0) await trx.updateTable('allowances').set({ micros: most }).where('id', '=', id).execute()
    await trx.deleteFrom('allowances').where('id', '=', id).where('micros', '=', 0).execute()
    return released
  })
}
