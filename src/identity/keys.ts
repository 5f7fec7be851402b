import type { Transaction } from 'kysely'
import type * as z from 'zod'
import { type Base, logged } from '../base.ts'
import { DEFAULTS } from '../config/config-keys.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { parseInput } from '../wire/validation.ts'
import { type Callers, createAuthentication } from './authentication.ts'
import { changeKey, readTerms, replaceSecret, revokeKey } from './change-key.ts'
import { findKey, hasAdmin, type KeyList, keysInForce, keysNamed, listKeys, type NamedAmong } from './find-keys.ts'
import { keepFirstKey, renewKeyFile } from './first-key.ts'
import type { Identity } from './identity.ts'
import { KeyChange, type KeyRecord, KeyRotation, NewKey, Scope } from './key.ts'
import { KEY_COLUMNS, type ShownRow, toRecord } from './key-record.ts'
import { tokenFor } from './key-token.ts'
import { type BillingDefaults, insertKey, makeKey, type NewlyMade, withEnd } from './new-key.ts'
import { nothingSpent, type SpendOf, type Spent } from './spend.ts'

export { unknownKey } from './change-key.ts'
export { KeyList, namesOfKeys } from './find-keys.ts'
export { type Identity, identityWithoutKey, requireScope, scopeFault } from './identity.ts'
export { KeyCache, KeyChange, KeyId, KeyRecord, KeyRotation, NewKey, Scope, WalletAddress } from './key.ts'

/** A key with a new secret. */
export interface NewlyRotated extends NewlyMade {
  /** Expiry of the previous secret; null if it expired at once. */
  previousExpiresAt: string | null
  /** `admin.key`, if it held the key and now holds the new secret; null otherwise. */
  keyFile: string | null
}

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
  /** Lists keys, revoked ones included, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged<KeyList>): Promise<Page<KeyRecord>>
  /** Reads the record of a key, even of a revoked one; null when there is none. */
  read(id: string): Promise<KeyRecord | null>
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
  /** Reads the ids of keys with a name, newest first; of unrevoked ones by default. */
  named(name: string, among?: NamedAmong): Promise<string[]>
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
  const { store, now, fixedKey, onError, onChanged, onBound } = deps
  const { billing = () => DEFAULT_BILLING, spendOf = nothingSpent, dataDir = null } = deps
  const { elapsedMs = () => performance.now() } = deps
  const { db } = store
  const authentication = createAuthentication({ store, now, elapsedMs, fixedKey, onError })

  async function records(rows: readonly ShownRow[]): Promise<KeyRecord[]> {
    const ids = rows.map(({ id }) => id)
    const [termsOf, spent] = await Promise.all([readTerms(db, ids), spendOf(ids, now())])
    return rows.map((row) => toRecord(row, termsOf(row.id), spent.get(row.id)))
  }
  const recordOf = async (row: ShownRow) => (await records([row]))[0] as KeyRecord

  return {
    ...authentication.callers,

    async create(input, keep) {
      const key = withEnd(parseInput(NewKey, input), now())
      return insertKey(store, key, makeKey(key, billing(), now()), { onBound, keep })
    },

    list: (page) => listKeys(store, page, records),

    async read(id) {
      const row = await db.selectFrom('keys').select(KEY_COLUMNS).where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : recordOf(row)
    },

    async change(id, input) {
      const row = await changeKey(store, id, withEnd(parseInput(KeyChange, input), now()))
      authentication.forget((identity) => identity.id === id)
      onChanged?.(id)
      return recordOf(row)
    },

    async rotate(id, input, keep) {
      const { grace_seconds } = parseInput(KeyRotation, input)
      const key = tokenFor(id)
      const at = now()
      const spent = (await spendOf([id], at)).get(id)
      const newlyRotated = await rotated(store, { id, key, at, graceSeconds: grace_seconds, spent }, keep)
      authentication.forget((identity) => identity.id === id)
      // The key is rotated by then, so a failure must not keep its new secret from the caller.
      const keyFile = dataDir === null ? null : await renewKeyFile(dataDir, id, key).catch(reported(onError))
      return { ...newlyRotated, keyFile }
    },

    async revoke(id) {
      const row = await revokeKey(store, id, now().toISOString(), deps)
      authentication.revoke(id)
      return recordOf(row)
    },

    find: (id) => findKey(db, id),
    named: (name, among = 'unrevoked') => keysNamed(db, name, among),
    inForce: (of) => keysInForce(db, of, now()),
    groupChanged: (groupId) => authentication.forget(({ group }) => group?.id === groupId),

    async ensureFirstKey({ dataDir }) {
      if (authentication.hasFixedKey()) return null
      return keepFirstKey(store, dataDir, makeKey(FIRST_ADMIN, billing(), now()))
    },

    hasAdmin: () => hasAdmin(db, now()),
    close: authentication.close,
  }
}

/** Replaces the secret of a key; the old one works for some seconds more. */
function rotated(
  store: Store,
  of: { id: string; key: string; at: Date; graceSeconds: number; spent: Spent | undefined },
  keep: Parameters<Keys['rotate']>[2],
) {
  const { id, key, at, graceSeconds, spent } = of
  const previousExpiresAt = graceSeconds === 0 ? null : new Date(at.getTime() + graceSeconds * 1000).toISOString()
  const secret = { token: key, at: at.toISOString(), previousUntil: previousExpiresAt }
  return store.write(async (trx) => {
    const { row, isNew } = await replaceSecret(trx, id, secret)
    const made = { key, record: toRecord(row, (await readTerms(trx, [id]))(id), spent), previousExpiresAt }
    if (isNew) await keep?.(trx, made)
    return made
  })
}

const reported = (onError: (error: unknown) => void) => (error: unknown) => {
  onError(error)
  return null
}
