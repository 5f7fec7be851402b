import { timingSafeEqual } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { parseInput } from '../wire/validation.ts'
import { CHECKED_COLUMNS, createKeyCache, type Entry } from './cache.ts'
import { keepFirstKey } from './first-key.ts'
import { ENVIRONMENT_IDENTITY, type Identity, identityOf } from './identity.ts'
import {
  KEY_COLUMNS,
  KeyChange,
  KeyId,
  type KeyRecord,
  NewKey,
  Scope,
  toChangedColumns,
  toRecord,
  toRow,
} from './key.ts'
import { hashToken, keyIdOf, newToken } from './key-token.ts'
import { createLastUsed } from './last-used.ts'
import { createRevocations } from './revocations.ts'

export { type Identity, requireScope } from './identity.ts'
export { KeyChange, KeyId, KeyRecord, NewKey, Scope, WalletAddress } from './key.ts'

/** The longest token that is looked at, in characters; the longest fixed key has as many. */
const MAX_TOKEN = 4096

/** A key that was just made. */
export interface NewlyMade {
  /** Its token, which nothing can show again. */
  key: string
  record: KeyRecord
}

/** API keys: who may call, and what they may do. */
export interface Keys {
  /**
   * Makes a key. `key` is its token: shown now and never again. What its wallet had is then the key's, as
   * {@link KeysDeps.onBound} has it.
   *
   * @param keep told of the key in the same transaction
   * @throws GazewayError `validation_failed`
   */
  create(input: z.input<typeof NewKey>, keep?: Keep<NewlyMade>): Promise<NewlyMade>
  /** All keys, revoked ones included, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged): Promise<Page<KeyRecord>>
  /**
   * Changes a key's name or limits, not what it may do. Calls are held to the new limits at once here, within 5 s in other
   * processes on the store.
   *
   * @throws GazewayError `validation_failed`, `not_found`, or `conflict` where the key was revoked
   */
  change(id: string, change: z.input<typeof KeyChange>): Promise<KeyRecord>
  /**
   * Ends a key for good: at once here, within 5 s in other processes on the store. Again is fine. What a key of a wallet has
   * goes where {@link KeysDeps.onUnbound} has it.
   *
   * @throws GazewayError `not_found`
   */
  revoke(id: string): Promise<KeyRecord>
  /**
   * Who bears `token`; null is no token.
   *
   * @throws GazewayError `invalid_api_key`, the same for every token that is not good; or the store's error
   */
  authenticate(token: string | null): Promise<Identity>
  /** The identity of a key by its id, of a revoked one, too; null where there is none. */
  find(id: string): Promise<Identity | null>
  /** Who bears `token`, where that is known without a query; null says only that {@link Keys.authenticate} must decide. */
  authenticateCached(token: string | null): Identity | null
  /**
   * Calls `listener` with the id of each key that is revoked, by whichever process, within some 2 s.
   *
   * @returns stops listening
   */
  onRevoked(listener: (id: string) => void): () => void
  /**
   * Makes the first key, an admin's, where the store has none and the configuration no fixed one, and keeps it in
   * `admin.key` in the data folder.
   *
   * @returns its token, to be shown; null where it was not needed, or another process made it
   * @throws GazewayError `store_unavailable` when the data folder cannot be written
   */
  ensureFirstKey(of: { dataDir: string }): Promise<string | null>
  /** Takes another fixed key into force; null is none. */
  setFixedKey(key: string | null): void
  /** Whether the store has a key that is in force and has the scope `admin`. */
  hasAdmin(): Promise<boolean>
  /** Stops polling and writes what is noted; the store can then be closed. */
  close(): Promise<void>
}

/** What keys are kept with. */
export interface KeysDeps {
  store: Store
  now: () => Date
  /** The fixed admin key of the configuration, at least 16 characters. */
  fixedKey: string | null
  /** Told when work in the background failed. */
  onError: (error: unknown) => void
  /** Told of a key whose name or limits were changed here. */
  onChanged?: (id: string) => void
  /** Part of the transaction that makes a key for a wallet: what is to happen with what the wallet has. */
  onBound?: (trx: Transaction<Schema>, key: KeyRow & { wallet: string }) => Promise<void>
  /** Part of the transaction that revokes a key of a wallet, and of those that do it again: what is to happen with what it has. */
  onUnbound?: (trx: Transaction<Schema>, key: { id: string; wallet: string; at: string }) => Promise<void>
  /** Part of the transaction that revokes a key, and of those that do it again. */
  onEnded?: (trx: Transaction<Schema>, key: { id: string; at: string }) => Promise<void>
  /** A clock that is never set, in milliseconds; the process's own when absent. */
  elapsedMs?: () => number
}

/** The keys in `store`. */
export function createKeys(deps: KeysDeps): Keys {
  const {
    store,
    now,
    fixedKey,
    onError,
    onChanged,
    onBound,
    onUnbound,
    onEnded,
    elapsedMs = () => performance.now(),
  } = deps
  const { db } = store
  let fixedHash = fixedKey === null ? null : hashToken(fixedKey)
  const lastUsed = createLastUsed({ store, now, onError })
  const revocations = createRevocations({ store, now, onError, forget: (id) => cache.revoke(id) })
  const cache = createKeyCache({
    read: (id) => db.selectFrom('keys').select(CHECKED_COLUMNS).where('id', '=', id).executeTakeFirst(),
    elapsedMs,
    onRevoked: revocations.announce,
    onError,
  })

  /** The identity behind `entry` for whoever bears the token with `hash`. */
  function admit(entry: Entry, hash: Buffer): Identity | null {
    if (!timingSafeEqual(entry.hash, hash) || entry.identity === null) return null
    if (!entry.used) {
      entry.used = true
      lastUsed.mark(entry.identity.id)
    }
    return entry.identity
  }

  function authenticateCached(token: string | null): Identity | null {
    if (token === null || token.length > MAX_TOKEN) return null
    const hash = hashToken(token)
    if (fixedHash !== null && timingSafeEqual(fixedHash, hash)) return ENVIRONMENT_IDENTITY
    const id = keyIdOf(token)
    const entry = id === null ? undefined : cache.peek(id)
    return entry === undefined ? null : admit(entry, hash)
  }

  async function authenticateStored(token: string): Promise<Identity | null> {
    const id = keyIdOf(token)
    return id === null ? null : admit(await cache.get(id), hashToken(token))
  }

  function newKey(input: z.input<typeof NewKey>) {
    const key = parseInput(NewKey, input)
    const { id, token } = newToken()
    return { token, row: toRow(key, { id, hash: hashToken(token), createdAt: now().toISOString() }) }
  }

  return {
    async create(input, keep) {
      const { token, row } = newKey(input)
      const newlyMade = { key: token, record: toRecord(row) }
      await store.write(async (trx) => {
        const insertion = trx.insertInto('keys').values(row).returning('id')
        const made = await insertion.onConflict((conflict) => conflict.column('id').doNothing()).executeTakeFirst()
        // Not made: it was, before the connection was lost.
        if (!made) return
        if (row.wallet !== null) await onBound?.(trx, { ...row, wallet: row.wallet })
        await keep?.(trx, newlyMade)
      })
      return newlyMade
    },

    async list(page) {
      const { cursor, offset } = page
      // Ids sort by creation.
      let query = pageReader(store, page).selectFrom('keys').select(KEY_COLUMNS).orderBy('id', 'desc')
      if (cursor !== undefined) query = query.where('id', '<', decodeCursor(cursor, z.tuple([KeyId]))[0])
      if (offset !== undefined) query = query.offset(offset)
      return readPage(page, {
        rows: (limit) => query.limit(limit).execute(),
        async total() {
          const counted = db.selectFrom('keys').select(sql<number>`count(*)`.as('total'))
          return Number((await counted.executeTakeFirstOrThrow()).total)
        },
        item: toRecord,
        cursor: (row) => [row.id],
      })
    },

    async change(id, input) {
      const row = await db
        .updateTable('keys')
        .set(toChangedColumns(parseInput(KeyChange, input)))
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returning(KEY_COLUMNS)
        .executeTakeFirst()
      if (row) {
        onChanged?.(id)
        return toRecord(row)
      }
      const revoked = await db.selectFrom('keys').select('id').where('id', '=', id).executeTakeFirst()
      if (!revoked) throw unknownKey()
      throw new GazewayError('conflict', 'This key was revoked; there is nothing left to limit.', { param: 'id' })
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
      revocations.announce(id)
      return toRecord(row)
    },

    async authenticate(token) {
      if (token === null || token === '') {
        throw new GazewayError(
          'invalid_api_key',
          'No API key was sent; send it as "Authorization: Bearer KEY". Make one with: gazeway key create --name NAME',
        )
      }
      const identity = authenticateCached(token) ?? (await authenticateStored(token))
      if (identity === null)
        throw new GazewayError('invalid_api_key', 'The API key is not valid: it is unknown, or was revoked.')
      return identity
    },

    async find(id) {
      if (id === ENVIRONMENT_IDENTITY.id) return ENVIRONMENT_IDENTITY
      const row = await db.selectFrom('keys').select(CHECKED_COLUMNS).where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : identityOf(row)
    },

    authenticateCached,
    onRevoked: revocations.listen,

    async ensureFirstKey({ dataDir }) {
      if (fixedHash !== null) return null
      return keepFirstKey(store, dataDir, newKey({ name: 'first admin', scopes: [...Scope.options] }))
    },

    setFixedKey(key) {
      fixedHash = key === null ? null : hashToken(key)
    },

    async hasAdmin() {
      const row = await db
        .selectFrom('keys')
        .select('id')
        .where('revoked_at', 'is', null)
        .where(sql<boolean>`cast(scopes as text) like '%"admin"%'`)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async close() {
      await revocations.close()
      await cache.close()
      await lastUsed.flush()
    },
  }
}

/** The id is not repeated: someone may have sent the key itself. */
const unknownKey = () => new GazewayError('not_found', 'There is no key with this id.', { param: 'id' })
