import { timingSafeEqual } from 'node:crypto'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { createKeyCache, type Entry } from './cache.ts'
import { readCheckedKeys } from './checked-keys.ts'
import { ENVIRONMENT_IDENTITY, expired, type Identity } from './identity.ts'
import { hashToken, keyIdOf } from './key-token.ts'
import { createLastUsed } from './last-used.ts'
import { createRevocations, type EndListener } from './revocations.ts'

/** The longest token that is looked at, in characters; the longest fixed key has as many. */
const MAX_TOKEN = 4096

/** Who calls: the bearers of tokens, and callers who were let in before. */
export interface Callers {
  /**
   * Who bears `token`; null is no token.
   *
   * @throws GazewayError `invalid_api_key`, the same for every token that is not good; `key_expired`; or the store's error
   */
  authenticate(token: string | null): Promise<Identity>
  /**
   * What a caller is held to, by its id, as of at most 4 s ago; without a wait where that is known. Null for one that is no
   * key, such as a wallet.
   *
   * @throws GazewayError `invalid_api_key` where the key was revoked, `key_expired`; or the store's error
   */
  identity(id: string): Identity | null | Promise<Identity | null>
  /** Who bears `token`, where that is known without a query; null says only that {@link Keys.authenticate} must decide. */
  authenticateCached(token: string | null): Identity | null
  /**
   * Calls `listener` with the id of each key that is revoked, by whichever process, or has expired, within some 2 s: of one
   * that has expired again and again for ten minutes.
   *
   * @returns stops listening
   */
  onEnded(listener: EndListener): () => void
  /** Takes another fixed key into force; null is none. */
  setFixedKey(key: string | null): void
}

/** The check of tokens, and what whoever changes keys tells it. */
export interface Authentication {
  callers: Callers
  /** Whether a fixed key is in force. */
  hasFixedKey(): boolean
  /** Has the keys read anew that `isChanged` names. */
  forget(isChanged: (identity: Identity) => boolean): void
  /** Refuses a key from now on, here, and tells whoever listens. */
  revoke(id: string): void
  /** Stops polling and writes what is noted; the store can then be closed. */
  close(): Promise<void>
}

/** Checks tokens against the keys in `store`, which are remembered for at most 4 s, and against a fixed key. */
export function createAuthentication(deps: {
  store: Store
  now: () => Date
  /** A clock that is never set, in milliseconds. */
  elapsedMs: () => number
  fixedKey: string | null
  onError: (error: unknown) => void
}): Authentication {
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

  /** Whether the token with `hash` is the one of `entry`, or the one before it in its time of grace. */
  function opens({ hash: present, previous }: Entry, hash: Buffer): boolean {
    if (timingSafeEqual(present, hash)) return true
    return previous !== null && timingSafeEqual(previous.hash, hash) && now().getTime() < previous.untilMs
  }

  const isExpired = ({ expiresMs }: Entry) => expiresMs !== Infinity && now().getTime() >= expiresMs

  /** The identity behind `entry`, whose token was sent. */
  function use(entry: Entry): Identity | null {
    if (!entry.used && entry.identity !== null) {
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
    return entry !== undefined && opens(entry, hash) && !isExpired(entry) ? use(entry) : null
  }

  async function authenticateStored(token: string): Promise<Identity | null> {
    const id = keyIdOf(token)
    if (id === null) return null
    const hash = hashToken(token)
    const known = await cache.get(id)
    // Another process may have rotated it since.
    const entry = opens(known, hash) || known.identity === null ? known : await cache.reread(id)
    if (!opens(entry, hash) || entry.identity === null) return null
    if (isExpired(entry)) throw expired(entry.identity)
    return use(entry)
  }

  /** The identity of a caller whom an earlier check has let in. */
  function stillInForce(entry: Entry): Identity | null {
    if (entry.identity === null && entry.readAt === Infinity) throw notGood()
    if (entry.identity !== null && isExpired(entry)) throw expired(entry.identity)
    return entry.identity
  }

  return {
    callers: {
      async authenticate(token) {
        if (token === null || token === '') {
          throw new GazewayError(
            'invalid_api_key',
            'No API key was sent; send it as "Authorization: Bearer KEY". Make one with: gazeway key create --name NAME',
          )
        }
        const identity = authenticateCached(token) ?? (await authenticateStored(token))
        if (identity === null) throw notGood()
        return identity
      },

      identity(id) {
        if (id === ENVIRONMENT_IDENTITY.id) return ENVIRONMENT_IDENTITY
        if (!id.startsWith('key_')) return null
        const entry = cache.peek(id)
        return entry === undefined ? cache.get(id).then(stillInForce) : stillInForce(entry)
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

const notGood = () =>
  new GazewayError('invalid_api_key', 'The API key is not valid: it is unknown, was revoked, or was replaced.')
