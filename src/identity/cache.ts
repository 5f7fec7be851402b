import { LRUCache } from 'lru-cache'
import type { CheckedRow } from './checked-keys.ts'
import { type Identity, identityOf } from './identity.ts'

/** Keys that are remembered, and as many made-up ids. */
const MAX_ENTRIES = 10_000
/** Age at which an entry is still served but read again in the background, in milliseconds. */
const REFRESHED_AFTER_MS = 2_000
/** Age at which an entry is no longer served. With the time that a read takes, a revocation is seen within 5 s. */
const SERVED_FOR_MS = 4_000

/** What is remembered about one id. Only the bearer of a token with one of these hashes has this `identity`. */
export interface Entry {
  hash: Buffer
  /** The hash of the token before the last rotation, while that still works. */
  previous: { hash: Buffer; untilMs: number } | null
  /** Null where no key with this id is in force. */
  identity: Identity | null
  /** When the key expires, in milliseconds since 1970; never is Infinity. */
  expiresMs: number
  /** When the read began, on the clock of `elapsedMs`. */
  readAt: number
  /** Whether its use has been noted. */
  used: boolean
}

/** A revocation is for good, so this entry never grows old. */
const REVOKED: Entry = Object.freeze({ ...entryOf(undefined, Infinity) })

/** Keys by id, as of at most 4 s ago. */
export interface KeyCache {
  /** What is remembered, where that is recent enough. */
  peek(id: string): Entry | undefined
  /** The same, read from the store where necessary. @throws the store's error */
  get(id: string): Promise<Entry>
  /** The same, by a read that began now: another process may have rotated the key. @throws the store's error */
  reread(id: string): Promise<Entry>
  /** Has the keys read anew that `concerns` finds: what they are held to was changed here. */
  forget(concerns: (identity: Identity) => boolean): void
  /** Forgets that a key was ever good, whatever a read that is under way will say. */
  revoke(id: string): void
  /** Waits for the reads that are under way. */
  close(): Promise<void>
}

/**
 * @param read the stored key
 * @param elapsedMs a clock that is never set, in milliseconds
 * @param onRevoked told when a read shows that a key was revoked elsewhere; calls `revoke`
 * @param onError told when a read in the background failed; the entry is then read again once it is too old to serve
 */
export function createKeyCache({
  read,
  elapsedMs,
  onRevoked,
  onError,
}: {
  read: (id: string) => Promise<CheckedRow | undefined>
  elapsedMs: () => number
  onRevoked: (id: string) => void
  onError: (error: unknown) => void
}): KeyCache {
  const known = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  // Apart, so that a flood of made-up ids displaces none of the real ones.
  const unknown = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  const reading = new Map<string, Promise<Entry>>()
  const underWay = new Set<Promise<Entry>>()
  /** Grows with each change here. A read that began before one may be of the time before it, and is not remembered. */
  let changes = 0

  async function load(id: string): Promise<Entry> {
    const readAt = elapsedMs()
    const before = changes
    const row = await read(id)
    // It may have been revoked here while the row was on its way.
    if (known.get(id) === REVOKED) return REVOKED
    if (row?.revoked_at) {
      onRevoked(id)
      return REVOKED
    }
    const entry = entryOf(row, readAt)
    if (before !== changes) return entry
    if (row) known.set(id, entry)
    else unknown.set(id, entry)
    return entry
  }

  function refresh(id: string): Promise<Entry> {
    const joined = reading.get(id)
    if (joined) return joined
    const started = load(id).finally(() => {
      underWay.delete(started)
      if (reading.get(id) === started) reading.delete(id)
    })
    underWay.add(started)
    reading.set(id, started)
    return started
  }

  function peek(id: string): Entry | undefined {
    const entry = known.get(id) ?? unknown.get(id)
    if (entry === undefined) return undefined
    const age = elapsedMs() - entry.readAt
    if (age >= SERVED_FOR_MS) return undefined
    if (age >= REFRESHED_AFTER_MS && !reading.has(id)) refresh(id).catch(onError)
    return entry
  }

  async function get(id: string): Promise<Entry> {
    const arrivedAt = elapsedMs()
    const entry = peek(id) ?? (await refresh(id))
    // It joined a read that had begun long before, in a store that was locked.
    return arrivedAt - entry.readAt >= SERVED_FOR_MS ? refresh(id) : entry
  }

  return {
    peek,
    get,
    async reread(id) {
      const arrivedAt = elapsedMs()
      const entry = await refresh(id)
      // It joined a read that had begun before.
      return entry.readAt < arrivedAt ? refresh(id) : entry
    },
    forget(concerns) {
      changes++
      reading.clear()
      for (const [id, { identity }] of known.entries()) if (identity !== null && concerns(identity)) known.delete(id)
    },
    revoke: (id) => void known.set(id, REVOKED),
    async close() {
      await Promise.allSettled(underWay)
    },
  }
}

/** What is remembered of a key's row, or of an id that has none. */
function entryOf(row: CheckedRow | undefined, readAt: number): Entry {
  const { hash = '00'.repeat(32), previous_hash = null, previous_until = null, expires_at = null } = row ?? {}
  return {
    hash: Buffer.from(hash, 'hex'),
    previous:
      previous_hash === null || previous_until === null
        ? null
        : { hash: Buffer.from(previous_hash, 'hex'), untilMs: Date.parse(previous_until) },
    identity: row === undefined ? null : identityOf(row),
    expiresMs: expires_at === null ? Infinity : Date.parse(expires_at),
    readAt,
    used: false,
  }
}
