import type { Transaction } from 'kysely'
import type * as z from 'zod'
import type { Billing } from '../config/sections/wallet-section.ts'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { toUtc } from '../store/dates.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { durationMs } from '../text/duration.ts'
import { replaceAlerts, toAlertRows } from './alert-thresholds.ts'
import { replaceBudgets, toBudgetRows } from './budgets.ts'
import { lockGroup, unknownGroup } from './groups.ts'
import type { KeyRecord, NewKey, Scope } from './key.ts'
import { toRecord, toRow } from './key-record.ts'
import { hashToken, newToken } from './key-token.ts'
import { changeSessionLimits, toSessionRow } from './session-limits.ts'

/** A new key: its secret and its record. */
export interface NewlyMade {
  /** The secret, shown only once. */
  key: string
  record: KeyRecord
}

/** Default billing of new keys. */
export type BillingDefaults = Readonly<Record<'platform' | 'other', Billing>>

/** A key that is not stored yet. */
interface MadeKey {
  token: string
  row: KeyRow
}

/** Makes a key without a group. @throws see {@link checkBilling} */
export function makeKey(key: z.output<typeof NewKey>, defaults: BillingDefaults, now: Date): MadeKey {
  const { id, token } = newToken()
  const billing = billingOf(key, defaults)
  return {
    token,
    row: toRow(key, { id, hash: hashToken(token), groupId: null, billing, createdAt: now.toISOString() }),
  }
}

/**
 * Stores a key with its group, budgets and alerts.
 *
 * @param hooks.onBound called in the same transaction for a key of a wallet
 * @param hooks.keep called with the key in the same transaction
 * @throws GazewayError `validation_failed` for an unknown group
 */
export function insertKey(
  store: Store,
  key: z.output<typeof NewKey>,
  { token, row: ungrouped }: MadeKey,
  hooks: {
    onBound?: ((trx: Transaction<Schema>, key: KeyRow & { wallet: string }) => Promise<void>) | undefined
    keep?: Keep<NewlyMade> | undefined
  },
): Promise<NewlyMade> {
  return store.write(async (trx) => {
    const row = { ...ungrouped, group_id: key.group === null ? null : await groupIn(trx, key.group) }
    const budgets = toBudgetRows(row.id, key.limits.budgets ?? [])
    const alerts = toAlertRows(row.id, key.alerts)
    const sessions = toSessionRow(row.id, key.limits)
    const newlyMade = { key: token, record: toRecord(row, { budgets, alerts, sessions }, undefined) }
    const insertion = trx.insertInto('keys').values(row).returning('id')
    const made = await insertion.onConflict((conflict) => conflict.column('id').doNothing()).executeTakeFirst()
    // Inserted before: the connection was lost after the commit.
    if (!made) return newlyMade
    await replaceBudgets(trx, row.id, budgets)
    await replaceAlerts(trx, row.id, alerts)
    await changeSessionLimits(trx, row.id, key.limits)
    if (row.wallet !== null) await hooks.onBound?.(trx, { ...row, wallet: row.wallet })
    await hooks.keep?.(trx, newlyMade)
    return newlyMade
  })
}

/** Puts the time in the place of a duration. @throws GazewayError `validation_failed` for an expiry in the past */
export function withEnd<Sent extends { expires_at?: string | null | undefined }>(sent: Sent, now: Date): Sent {
  const { expires_at } = sent
  if (expires_at == null) return sent
  const ms = durationMs(expires_at)
  if (ms !== null) return { ...sent, expires_at: toUtc(now.getTime() + ms) }
  if (Date.parse(expires_at) > now.getTime()) return sent
  throw new GazewayError(
    'validation_failed',
    'expires_at: in the past; must be a time in the future, or null. To end a key, revoke it.',
    { param: 'expires_at' },
  )
}

/** Finds the id of a group and locks it until the transaction ends. @throws GazewayError `validation_failed` */
export async function groupIn(trx: Transaction<Schema>, idOrName: string): Promise<string> {
  const group = await lockGroup(trx, idOrName)
  if (group === undefined) throw unknownGroup('group')
  return group.id
}

/** Selects the billing of a new key. @throws see {@link checkBilling} */
function billingOf({ scopes, billing }: z.output<typeof NewKey>, defaults: BillingDefaults): Billing {
  if (scopes.includes('admin') && billing === undefined) return 'recorded'
  const chosen = billing ?? defaults[scopes.includes('platform') ? 'platform' : 'other']
  checkBilling(scopes, chosen)
  return chosen
}

/** @throws GazewayError `validation_failed` for an admin's key with charged billing */
export function checkBilling(scopes: readonly Scope[], billing: Billing): void {
  if (!scopes.includes('admin') || billing === 'recorded') return
  throw new GazewayError(
    'validation_failed',
    'billing: calls of admin keys are recorded and not charged; must be "recorded".',
    {
      param: 'billing',
    },
  )
}
