import { sql, type Transaction } from 'kysely'
import * as z from 'zod'
import { type Base, logged } from '../base.ts'
import { DEFAULTS } from '../config/config-keys.ts'
import type { Billing } from '../config/sections/wallet-section.ts'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { durationMs } from '../text/duration.ts'
import { parseInput } from '../wire/validation.ts'
import { readAlerts, replaceAlerts, toAlertRows } from './alerts.ts'
import { type Callers, createAuthentication } from './authentication.ts'
import { readBudgets, replaceBudgets, toBudgetRows } from './budgets.ts'
import { readCheckedKeys } from './checked-keys.ts'
import { keepFirstKey, renewKeyFile } from './first-key.ts'
import { lockGroup, unknownGroup } from './groups.ts'
import { ENVIRONMENT_IDENTITY, type Identity, identityOf } from './identity.ts'
import { keysInForce } from './in-force.ts'
import { KeyChange, KeyId, type KeyRecord, KeyRotation, NewKey, Scope, scopesOf } from './key.ts'
import { KEY_COLUMNS, type KeyTerms, type ShownRow, toChangedColumns, toRecord, toRow } from './key-rows.ts'
import { hashToken, newToken, tokenFor } from './key-token.ts'
import { nothingSpent, type SpendOf } from './spend.ts'

export { type Identity, identityWithoutKey, requireScope } from './identity.ts'
export { KeyChange, KeyId, KeyRecord, KeyRotation, NewKey, Scope, WalletAddress } from './key.ts'

/** A new key: its secret and its record. */
export interface NewlyMade {
  /** The secret, shown only once. */
  key: string
  record: KeyRecord
}

/** A key with a new secret. */
export interface NewlyRotated extends NewlyMade {
  /** Expiry of the previous secret; null if it expired at once. */
  previousExpiresAt: string | null
  /** `admin.key`, if it held the key and now holds the new secret; null otherwise. */
  keyFile: string | null
}

/** Default billing of new keys. */
export type BillingDefaults = Readonly<Record<'platform' | 'other', Billing>>

/** API keys and their authentication. */
export interface Keys extends Callers {
  /**
   * Creates a key. `key` is its secret, shown only once. The balance of its wallet moves to it, see {@link
   * KeysDeps.onBound}.
   *
   * @param keep called with the key in the same transaction
   * @throws GazewayError `validation_failed`, also for an unknown group or an expiry in the past
   * @example
   * const newKey = (keys: ReturnType<typeof createKeys>) =>
   *   keys.create({ name: 'ci', scopes: ['inference'], limits: { requests_per_minute: 60 } })
   */
  create(input: z.input<typeof NewKey>, keep?: Keep<NewlyMade>): Promise<NewlyMade>
  /** Lists all keys, revoked ones included, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged): Promise<Page<KeyRecord>>
  /**
   * Changes the given fields of a key; scopes cannot change. Of concurrent changes the later one wins per field. New
   * limits apply at once in this process, within 5 s in others.
   *
   * @throws GazewayError `validation_failed`, `not_found`, or `conflict` for a revoked key
   */
  change(id: string, change: z.input<typeof KeyChange>): Promise<KeyRecord>
  /**
   * Replaces the secret of a key, in `admin.key` too where that holds it. The previous token works until the grace ends. An older one expires at once in this
   * process, within 5 s in others.
   *
   * @param keep called with the key in the same transaction
   * @throws GazewayError `validation_failed`, `not_found`, or `conflict` for a revoked or expired key
   */
  rotate(
    id: string,
    rotation: z.input<typeof KeyRotation>,
    keep?: Keep<Omit<NewlyRotated, 'keyFile'>>,
  ): Promise<NewlyRotated>
  /**
   * Revokes a key permanently: at once in this process, within 5 s in others. Idempotent. The balance of a wallet's key
   * moves on, see {@link KeysDeps.onUnbound}.
   *
   * @throws GazewayError `not_found`
   */
  revoke(id: string): Promise<KeyRecord>
  /** Finds the identity of a key by id, even of a revoked one; null when there is none. */
  find(id: string): Promise<Identity | null>
  /** Reads the ids of unrevoked keys with a name, newest first. */
  named(name: string): Promise<string[]>
  /** Reads keys that are neither revoked nor expired, by id or wallet (in lower case), from the store, newest first. */
  inForce(of: { id: string } | { wallet: string }): Promise<Identity[]>
  /** Applies the changed budgets of a group to its keys at once. */
  groupChanged(groupId: string): void
  /**
   * Creates the first key, an admin's, when the store has none and the configuration has no fixed key. Writes it to
   * `admin.key` in the data folder.
   *
   * @returns its token to show; null when it was not needed or another process created it
   * @throws GazewayError `store_unavailable` when the data folder is not writable
   */
  ensureFirstKey(of: { dataDir: string }): Promise<string | null>
  /** Tells whether the store has a valid key with the scope `admin`. */
  hasAdmin(): Promise<boolean>
  /** Stops polling and flushes pending writes; the store can then be closed. */
  close(): Promise<void>
}

const DEFAULT_BILLING: BillingDefaults = DEFAULTS.wallet.billing
const FIRST_ADMIN = NewKey.parse({ name: 'first admin', scopes: [...Scope.options] })

/** Dependencies of {@link createKeys}. */
export interface KeysDeps {
  store: Store
  now: () => Date
  /** Fixed admin key of the configuration, at least 16 characters. */
  fixedKey: string | null
  /** Data folder whose `admin.key` follows its key; none by default. */
  dataDir?: string
  /** Called when background work failed. */
  onError: (error: unknown) => void
  /** Default billing of new keys, read for each; the configuration's by default. */
  billing?: () => BillingDefaults
  /** Reads the spending of keys, for their records; none by default. */
  spendOf?: SpendOf
  /** Called after a key's name or limits were changed here. */
  onChanged?: (id: string) => void
  /** Called in the transaction that creates a key for a wallet, to move the wallet's balance. */
  onBound?: (trx: Transaction<Schema>, key: KeyRow & { wallet: string }) => Promise<void>
  /** Called in each transaction that revokes a key of a wallet, to move its balance. */
  onUnbound?: (trx: Transaction<Schema>, key: { id: string; wallet: string; at: string }) => Promise<void>
  /** Called in each transaction that revokes a key. */
  onEnded?: (trx: Transaction<Schema>, key: { id: string; at: string }) => Promise<void>
  /** Monotonic clock in milliseconds; the process's own by default. */
  elapsedMs?: () => number
}

/** Opens the room: keys follow the fixed key and the default billing. */
export function liveKeys(
  base: Base,
  hooks: Pick<KeysDeps, 'spendOf' | 'onChanged' | 'onBound' | 'onUnbound' | 'onEnded'>,
): Keys {
  const { store, now, config } = base
  const { dataDir, config: started } = config.current()
  const keys = createKeys({
    ...hooks,
    store,
    now,
    dataDir,
    fixedKey: started.identity.api_key,
    billing: () => config.current().config.wallet.billing,
    onError: logged(base, 'Failed to read or record keys.'),
  })
  config.onChange(({ config: { identity } }) => keys.setFixedKey(identity.api_key))
  return keys
}

/** Creates the service that manages the API keys of a store. */
export function createKeys(deps: KeysDeps): Keys {
  const { store, now, fixedKey, onError, onChanged, onBound, onUnbound, onEnded } = deps
  const { billing = () => DEFAULT_BILLING, spendOf = nothingSpent } = deps
  const { elapsedMs = () => performance.now(), dataDir = null } = deps
  const { db } = store
  const authentication = createAuthentication({ store, now, elapsedMs, fixedKey, onError })
  const { forget } = authentication

  /** Puts the time in the place of a duration. @throws GazewayError `validation_failed` for an expiry in the past */
  function withEnd<Sent extends { expires_at?: string | null | undefined }>(sent: Sent): Sent {
    const { expires_at } = sent
    if (expires_at == null) return sent
    const ms = durationMs(expires_at)
    if (ms !== null) return { ...sent, expires_at: toUtc(now().getTime() + ms) }
    if (Date.parse(expires_at) > now().getTime()) return sent
    throw new GazewayError(
      'validation_failed',
      'expires_at: in the past; must be a time in the future, or null. To end a key, revoke it.',
      { param: 'expires_at' },
    )
  }

  function newKey(key: z.output<typeof NewKey>, groupId: string | null) {
    const { id, token } = newToken()
    const of = {
      id,
      hash: hashToken(token),
      groupId,
      billing: billingOf(key, billing()),
      createdAt: now().toISOString(),
    }
    return { token, row: toRow(key, of) }
  }

  async function records(rows: readonly ShownRow[]): Promise<KeyRecord[]> {
    const ids = rows.map(({ id }) => id)
    const [termsOf, spent] = await Promise.all([readTerms(db, ids), spendOf(ids, now())])
    return rows.map((row) => toRecord(row, termsOf(row.id), spent.get(row.id)))
  }

  const recordOf = async (row: ShownRow) => (await records([row]))[0] as KeyRecord

  /** Explains why a key cannot change: it does not exist, or was revoked. */
  async function unchangeable(id: string, db: Pick<Store['db'], 'selectFrom'>): Promise<GazewayError> {
    const row = await db.selectFrom('keys').select('revoked_at').where('id', '=', id).executeTakeFirst()
    if (row === undefined) return unknownKey()
    const why = row.revoked_at === null ? 'has expired; extend it first (expires_at)' : 'was revoked; create a new one'
    return new GazewayError('conflict', `This key ${why}.`, { param: 'id' })
  }

  /** Rewrites `admin.key`. The key is rotated by then, so a failure must not keep its new secret from the caller. */
  async function renewed(id: string, token: string): Promise<string | null> {
    if (dataDir === null) return null
    try {
      return await renewKeyFile(dataDir, id, token)
    } catch (error) {
      onError(error)
      return null
    }
  }

  return {
    async create(input, keep) {
      const key = withEnd(parseInput(NewKey, input))
      const { token, row: ungrouped } = newKey(key, null)
      return store.write(async (trx) => {
        const row = { ...ungrouped, group_id: key.group === null ? null : await groupIn(trx, key.group) }
        const budgets = toBudgetRows(row.id, key.limits.budgets ?? [])
        const alerts = toAlertRows(row.id, key.alerts)
        const newlyMade = { key: token, record: toRecord(row, { budgets, alerts }, undefined) }
        const insertion = trx.insertInto('keys').values(row).returning('id')
        const made = await insertion.onConflict((conflict) => conflict.column('id').doNothing()).executeTakeFirst()
        // Inserted before: the connection was lost after the commit.
        if (!made) return newlyMade
        await replaceBudgets(trx, row.id, budgets)
        await replaceAlerts(trx, row.id, alerts)
        if (row.wallet !== null) await onBound?.(trx, { ...row, wallet: row.wallet })
        await keep?.(trx, newlyMade)
        return newlyMade
      })
    },

    async list(page) {
      const { cursor, offset } = page
      // Ids sort by creation.
      let query = pageReader(store, page).selectFrom('keys').select(KEY_COLUMNS).orderBy('id', 'desc')
      if (cursor !== undefined) query = query.where('id', '<', decodeCursor(cursor, z.tuple([KeyId]))[0])
      if (offset !== undefined) query = query.offset(offset)
      return readPage(page, {
        rows: async (limit) => records(await query.limit(limit).execute()),
        async total() {
          const counted = db.selectFrom('keys').select(sql<number>`count(*)`.as('total'))
          return Number((await counted.executeTakeFirstOrThrow()).total)
        },
        item: (record) => record,
        cursor: (row) => [row.id],
      })
    },

    async change(id, input) {
      const change = withEnd(parseInput(KeyChange, input))
      const { group, alerts, limits: { budgets } = {} } = change
      const row = await store.write(async (trx) => {
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
        if (alerts !== undefined) await replaceAlerts(trx, id, toAlertRows(id, alerts))
        return changed
      })
      forget((identity) => identity.id === id)
      onChanged?.(id)
      return recordOf(row)
    },

    async rotate(id, input, keep) {
      const { grace_seconds } = parseInput(KeyRotation, input)
      const key = tokenFor(id)
      const hash = hashToken(key).toString('hex')
      const at = now()
      const rotatedAt = at.toISOString()
      const previousExpiresAt = grace_seconds === 0 ? null : new Date(at.getTime() + grace_seconds * 1000).toISOString()
      const spent = (await spendOf([id], at)).get(id)
      const newlyRotated = await store.write(async (trx) => {
        const rotated = trx.selectFrom('keys').select(KEY_COLUMNS).where('id', '=', id).where('hash', '=', hash)
        // Rotated before: the connection was lost after the commit.
        const already = await rotated.executeTakeFirst()
        const update = trx
          .updateTable('keys')
          .set({
            hash,
            previous_hash: previousExpiresAt === null ? null : sql`hash`,
            previous_until: previousExpiresAt,
            rotated_at: rotatedAt,
          })
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', rotatedAt)]))
          .returning(KEY_COLUMNS)
        const row = already ?? (await update.executeTakeFirst())
        if (row === undefined) throw await unchangeable(id, trx)
        const record = toRecord(row, (await readTerms(trx, [id]))(id), spent)
        const made = { key, record, previousExpiresAt }
        if (already === undefined) await keep?.(trx, made)
        return made
      })
      forget((identity) => identity.id === id)
      return { ...newlyRotated, keyFile: await renewed(id, key) }
    },

    async revoke(id) {
      const at = now().toISOString()
      const row = await store.write(async (trx) => {
        const revoked = await trx
          .updateTable('keys')
          .set({ revoked_at: sql`coalesce(revoked_at, ${at})` })
          .where('id', '=', id)
          .returning(KEY_COLUMNS)
          .executeTakeFirst()
        if (revoked) await onEnded?.(trx, { id, at })
        if (revoked && revoked.wallet !== null) await onUnbound?.(trx, { id, wallet: revoked.wallet, at })
        return revoked
      })
      if (!row) throw unknownKey()
      authentication.revoke(id)
      return recordOf(row)
    },

    ...authentication.callers,

    async find(id) {
      if (id === ENVIRONMENT_IDENTITY.id) return ENVIRONMENT_IDENTITY
      const [row] = await readCheckedKeys(db, { id })
      return row === undefined ? null : identityOf(row)
    },

    async named(name) {
      const query = db.selectFrom('keys').select('id').where('name', '=', name).where('revoked_at', 'is', null)
      const rows = await query.orderBy('id', 'desc').execute()
      return rows.map(({ id }) => id)
    },

    inForce: (of) => keysInForce(db, of, now()),

    groupChanged: (groupId) => forget(({ group }) => group?.id === groupId),

    async ensureFirstKey({ dataDir }) {
      if (authentication.hasFixedKey()) return null
      return keepFirstKey(store, dataDir, newKey(FIRST_ADMIN, null))
    },

    async hasAdmin() {
      const row = await db
        .selectFrom('keys')
        .select('id')
        .where('revoked_at', 'is', null)
        .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now().toISOString())]))
        .where(sql<boolean>`cast(scopes as text) like '%"admin"%'`)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    close: authentication.close,
  }
}

/** Reads the budgets and alerts of keys. */
async function readTerms(db: Store['db'], ids: readonly string[]): Promise<(id: string) => KeyTerms> {
  const [budgets, alerts] = await Promise.all([readBudgets(db, ids), readAlerts(db, ids)])
  return (id) => ({ budgets: budgets.get(id) ?? [], alerts: alerts.get(id) ?? [] })
}

/** The id is not repeated: it may be a secret key sent by mistake. */
const unknownKey = () => new GazewayError('not_found', 'There is no key with this id.', { param: 'id' })

/** Finds the id of a group and locks it until the transaction ends. @throws GazewayError `validation_failed` */
async function groupIn(trx: Transaction<Schema>, idOrName: string): Promise<string> {
  const group = await lockGroup(trx, idOrName)
  if (group === undefined) throw unknownGroup('group')
  return group.id
}

/** Selects the billing of a new key. @throws see `checkBilling` */
function billingOf({ scopes, billing }: z.output<typeof NewKey>, defaults: BillingDefaults): Billing {
  if (scopes.includes('admin') && billing === undefined) return 'recorded'
  const chosen = billing ?? defaults[scopes.includes('platform') ? 'platform' : 'other']
  checkBilling(scopes, chosen)
  return chosen
}

/** @throws GazewayError `validation_failed` for an admin's key with charged billing */
function checkBilling(scopes: readonly Scope[], billing: Billing): void {
  if (!scopes.includes('admin') || billing === 'recorded') return
  throw new GazewayError(
    'validation_failed',
    'billing: calls of admin keys are recorded and not charged; must be "recorded".',
    {
      param: 'billing',
    },
  )
}
