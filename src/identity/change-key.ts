import { sql, type Transaction } from 'kysely'
import type * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { readAlerts, replaceAlerts, toAlertRows } from './alert-thresholds.ts'
import { readBudgets, replaceBudgets, toBudgetRows } from './budgets.ts'
import { type KeyChange, scopesOf } from './key.ts'
import { KEY_COLUMNS, type KeyTerms, type ShownRow, toChangedColumns } from './key-record.ts'
import { hashToken } from './key-token.ts'
import { checkBilling, groupIn } from './new-key.ts'
import { changeSessionLimits, readSessionLimits } from './session-limits.ts'

/**
 * Changes the given fields of a key.
 *
 * @throws GazewayError `validation_failed`, `not_found`, or `conflict` for a revoked key
 */
export function changeKey(store: Store, id: string, change: z.output<typeof KeyChange>): Promise<ShownRow> {
  const { group, alerts, limits = {} } = change
  const { budgets } = limits
  return store.write(async (trx) => {
    const groupId = group == null ? group : await groupIn(trx, group)
    const changed = await trx
      .updateTable('keys')
      // Locks the row even when only budgets change.
      .set({ name: sql`name`, ...toChangedColumns(change), ...(groupId !== undefined && { group_id: groupId }) })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .returning(KEY_COLUMNS)
      .executeTakeFirst()
    if (changed === undefined) throw await unchangeable(id, trx)
    checkBilling(scopesOf(changed), changed.billing)
    if (budgets !== undefined) await replaceBudgets(trx, id, toBudgetRows(id, budgets ?? []))
    await changeSessionLimits(trx, id, limits)
    if (alerts !== undefined) await replaceAlerts(trx, id, toAlertRows(id, alerts))
    return changed
  })
}

/** A new secret for a key. */
interface NewSecret {
  token: string
  /** RFC 3339 UTC */
  at: string
  /** Expiry of the previous secret; null to end it at once. */
  previousUntil: string | null
}

/**
 * Replaces the secret of a key, in a transaction.
 *
 * @returns the row; `isNew` is false when the same secret was stored before
 * @throws GazewayError `not_found`, or `conflict` for a revoked or expired key
 */
export async function replaceSecret(
  trx: Transaction<Schema>,
  id: string,
  { token, at, previousUntil }: NewSecret,
): Promise<{ row: ShownRow; isNew: boolean }> {
  const hash = hashToken(token).toString('hex')
  const rotated = trx.selectFrom('keys').select(KEY_COLUMNS).where('id', '=', id).where('hash', '=', hash)
  // Rotated before: the connection was lost after the commit.
  const already = await rotated.executeTakeFirst()
  if (already !== undefined) return { row: already, isNew: false }
  const row = await trx
    .updateTable('keys')
    .set({
      hash,
      previous_hash: previousUntil === null ? null : sql`hash`,
      previous_until: previousUntil,
      rotated_at: at,
    })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .returning(KEY_COLUMNS)
    .executeTakeFirst()
  if (row === undefined) throw await unchangeable(id, trx)
  return { row, isNew: true }
}

/** Called in each transaction that revokes a key. */
interface RevocationHooks {
  onUnbound?: ((trx: Transaction<Schema>, key: { id: string; wallet: string; at: string }) => Promise<void>) | undefined
  onEnded?: ((trx: Transaction<Schema>, key: { id: string; at: string }) => Promise<void>) | undefined
}

/** Revokes a key. Idempotent. @throws GazewayError `not_found` */
export async function revokeKey(store: Store, id: string, at: string, hooks: RevocationHooks): Promise<ShownRow> {
  const row = await store.write(async (trx) => {
    const revoked = await trx
      .updateTable('keys')
      .set({ revoked_at: sql`coalesce(revoked_at, ${at})` })
      .where('id', '=', id)
      .returning(KEY_COLUMNS)
      .executeTakeFirst()
    if (revoked) await hooks.onEnded?.(trx, { id, at })
    if (revoked && revoked.wallet !== null) await hooks.onUnbound?.(trx, { id, wallet: revoked.wallet, at })
    return revoked
  })
  if (!row) throw unknownKey()
  return row
}

/** Reads the budgets, alerts and limits of the sessions of keys. */
export async function readTerms(db: Store['db'], ids: readonly string[]): Promise<(id: string) => KeyTerms> {
  const [budgets, alerts, sessions] = await Promise.all([
    readBudgets(db, ids),
    readAlerts(db, ids),
    readSessionLimits(db, ids),
  ])
  return (id) => ({ budgets: budgets.get(id) ?? [], alerts: alerts.get(id) ?? [], sessions: sessions.get(id) })
}

/** Explains why a key cannot change: it does not exist, or was revoked. */
async function unchangeable(id: string, db: Pick<Store['db'], 'selectFrom'>): Promise<GazewayError> {
  const row = await db.selectFrom('keys').select('revoked_at').where('id', '=', id).executeTakeFirst()
  if (row === undefined) return unknownKey()
  const why = row.revoked_at === null ? 'has expired; extend it first (expires_at)' : 'was revoked; create a new one'
  return new GazewayError('conflict', `This key ${why}.`, { param: 'id' })
}

/** The id is not repeated: it may be a secret key sent by mistake. */
/** Error for an unknown key. */
export const unknownKey = (): GazewayError =>
  new GazewayError('not_found', 'There is no key with this id.', { param: 'id' })
