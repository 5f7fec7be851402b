import { timingSafeEqual } from 'node:crypto'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { inTime } from '../wire/with-timeout.ts'
import { readCheckedKeys } from './checked-keys.ts'
import { ENVIRONMENT_IDENTITY, expired, type Identity } from './identity.ts'
import { createKeyCache, type Entry, type KeyCache } from './key-cache.ts'
import { hashToken, keyIdOf } from './key-token.ts'
import { createLastUsed, type LastUsed } from './last-used.ts'
import { createRevocations, type EndListener } from './revocations.ts'

/** Time of the store to say whether a key is valid that was so before, where that would do, in milliseconds. */
const STORE_MS = 1_000
/** Longest accepted token in characters, that of the longest fixed key. */
const MAX_TOKEN = 4096

/** Authentication of callers. */
export interface Callers {
  /**
   * Finds the identity of a token; null for no token.
   *
   * @param seenMs for how long the identity of a valid token stays good while the store does not answer, in milliseconds
   * @throws GazewayError `invalid_api_key`, the same for every invalid token; `key_expired`; or the store's error
   */
  authenticate(token: string | null, seenMs?: number): Promise<Identity>
  /**
   * Finds the identity of a caller by id, at most 4 s old; without waiting when cached. Null for a caller without a
   * key, such as a wallet.
   *
   * @throws GazewayError `invalid_api_key` for a revoked key, `key_expired`; or the store's error
   */
  identity(id: string): Identity | null | Promise<Identity | null>
  /** Finds the identity of a cached token without a query; null means that {@link Keys.authenticate} must decide. */
  authenticateCached(token: string | null): Identity | null
  /**
   * Calls `listener` with the id of each key that any process revokes or that expires, within about 2 s. Expired keys
   * are repeated for ten minutes.
   *
   * @returns a function that stops listening
   */
  onEnded(listener: EndListener): () => void
  /** Replaces the fixed key; null for none. */
  setFixedKey(key: string | null): void
}

/** Authentication, with notifications about changed keys. */
export interface Authentication {
  callers: Callers
  /** Tells whether a fixed key is set. */
  hasFixedKey(): boolean
  /** Drops the keys that `isChanged` selects from the cache. */
  forget(isChanged: (identity: Identity) => boolean): void
  /** Refuses a key in this process from now on and notifies listeners. */
  revoke(id: string): void
  /** Stops polling and flushes pending writes; the store can then be closed. */
  close(): Promise<void>
}

/** Dependencies of {@link createAuthentication}. */
interface AuthenticationDeps {
  store: Store
  now: () => Date
  /** Monotonic clock in milliseconds. */
  elapsedMs: () => number
  fixedKey: string | null
  onError: (error: unknown) => void
}

/** Creates the authentication against the keys in `store`, cached for at most 4 s, and a fixed key. */
export function createAuthentication(deps: AuthenticationDeps): Authentication {
  const { store, now, elapsedMs, fixedKey, onError } = deps
  let fixedHash = fixedKey === null ? null : hashToken(fixedKey)
  const lastUsed = createLastUsed({ store, now, onError })
  const revocations = createRevocations({ store, now, onError, forget: (id) => cache.revoke(id) })
  const cache = createKeyCache({
    read: async (id) => (await readCheckedKeys(store.db, { id }))[0],
    elapsedMs,
    onRevoked: revocations.announce,
    onError,
  })
  const stored = storedTokens({ cache, now, lastUsed })

  function authenticateCached(token: string | null): Identity | null {
    if (token === null || token.length > MAX_TOKEN) return null
    const hash = hashToken(token)
    if (fixedHash !== null && timingSafeEqual(fixedHash, hash)) return ENVIRONMENT_IDENTITY
    const id = keyIdOf(token)
    const entry = id === null ? undefined : cache.peek(id)
    return entry !== undefined && opens(entry, hash, now()) && !isExpired(entry, now()) ? use(entry, lastUsed) : null
  }

  return {
    callers: {
      async authenticate(token, seenMs = 0) {
        if (token === null || token === '') throw notSent()
        const identity = authenticateCached(token) ?? (await stored.find(token, seenMs))
        if (identity === null) throw notGood()
        return identity
      },

      identity(id) {
        if (id === ENVIRONMENT_IDENTITY.id) return ENVIRONMENT_IDENTITY
        if (!id.startsWith('key_')) return null
        const entry = cache.peek(id)
        return entry === undefined ? cache.get(id).then((read) => inForce(read, now())) : inForce(entry, now())
      },

      authenticateCached,
      onEnded: revocations.listen,
      setFixedKey(key) {
        fixedHash = key === null ? null : hashToken(key)
      },
    },
    hasFixedKey: () => fixedHash !== null,
    forget: cache.forget,
    revoke: revocations.announce,
    async close() {
      await revocations.close()
      await cache.close()
      await lastUsed.flush()
    },
  }
}

/** Finds the identities of tokens in the store, by way of the cache. */
function storedTokens({ cache, now, lastUsed }: { cache: KeyCache; now: () => Date; lastUsed: LastUsed }) {
  async function read(token: string): Promise<Identity | null> {
    const id = keyIdOf(token)
    if (id === null) return null
    const hash = hashToken(token)
    const known = await cache.get(id)
    // Another process may have rotated the key meanwhile.
    const entry = opens(known, hash, now()) || known.identity === null ? known : await cache.reread(id)
    if (!opens(entry, hash, now()) || entry.identity === null) return null
    if (isExpired(entry, now())) throw expired(entry.identity)
    return use(entry, lastUsed)
  }

  return {
    /** @param seenMs as of {@link Callers.authenticate} */
    async find(token: string, seenMs: number): Promise<Identity | null> {
      const entry = seenMs === 0 ? undefined : cache.seen(keyIdOf(token) ?? '', seenMs)
      if (entry === undefined || !opens(entry, hashToken(token), now()) || isExpired(entry, now())) return read(token)
      try {
        const stored = await inTime(STORE_MS, read(token))
        return stored === undefined ? entry.identity : stored
      } catch (error) {
        if (error instanceof GazewayError && error.code === 'store_unavailable') return entry.identity
        throw error
      }
    },
  }
}

const notGood = () =>
  new GazewayError(
    'invalid_api_key',
    'The API key is not valid: it is unknown, was revoked, or was replaced. Keys of another data folder are unknown here.',
  )

const notSent = () =>
  new GazewayError(
    'invalid_api_key',
    'No API key was sent. Send it as "Authorization: Bearer KEY". Create one with: gazeway key create --name NAME',
  )

/** Compares a token's hash with the current one, and with the previous one during its grace. */
function opens({ hash: present, previous }: Entry, hash: Buffer, at: Date): boolean {
  if (timingSafeEqual(present, hash)) return true
  return previous !== null && timingSafeEqual(previous.hash, hash) && at.getTime() < previous.untilMs
}

const isExpired = ({ expiresMs }: Entry, at: Date): boolean => at.getTime() >= expiresMs

/** Marks an entry as used and returns its identity. */
function use(entry: Entry, lastUsed: LastUsed): Identity | null {
  if (!entry.used && entry.identity !== null) {
    entry.used = true
    lastUsed.mark(entry.identity.id)
  }
  return entry.identity
}

/** Returns the identity of a caller that was authenticated before. @throws GazewayError `invalid_api_key`, `key_expired` */
function inForce(entry: Entry, at: Date): Identity | null {
  if (entry.identity === null && entry.readAt === Infinity) throw notGood()
  if (entry.identity !== null && isExpired(entry, at)) throw expired(entry.identity)
  return entry.identity
}
