import { LRUCache } from 'lru-cache'
import type { CheckedRow } from './checked-keys.ts'
import { type Identity, identityOf } from './identity.ts'

/** Cached keys, and as many cached unknown ids. */
const MAX_ENTRIES = 10_000
/** Age after which an entry is refreshed in the background, in milliseconds. */
const REFRESHED_AFTER_MS = 2_000
/**
 * Age after which an entry is stale, in milliseconds. Including the time of a read, a revocation applies within 5 s.
 */
const SERVED_FOR_MS = 4_000

/** Cache entry of one id. Its `identity` belongs to bearers of a token with one of these hashes only. */
export interface Entry {
  hash: Buffer
  /** Hash of the token before the last rotation, during its grace. */
  previous: { hash: Buffer; untilMs: number } | null
  /** Null when no valid key has this id. */
  identity: Identity | null
  /** Expiry of the key in Unix milliseconds; `Infinity` for never. */
  expiresMs: number
  /** Start of the read, on the clock of `elapsedMs`. */
  readAt: number
  /** Its use has been recorded. */
  used: boolean
}

/** A revocation is final, so this entry is never stale. */
const REVOKED: Entry = Object.freeze({ ...entryOf(undefined, Infinity) })

/** Cache of keys by id, at most 4 s old. */
export interface KeyCache {
  /** Reads a fresh entry of the cache. */
  peek(id: string): Entry | undefined
  /** Reads an entry that may be stale, up to an age in milliseconds. */
  seen(id: string, ageMs: number): Entry | undefined
  /** Reads an entry, from the store when stale. @throws the store's error */
  get(id: string): Promise<Entry>
  /** Reads an entry from the store now, as another process may have rotated the key. @throws the store's error */
  reread(id: string): Promise<Entry>
  /** Drops the keys that `concerns` selects, after their terms were changed here. */
  forget(concerns: (identity: Identity) => boolean): void
  /** Marks a key as revoked permanently, whatever reads in flight return. */
  revoke(id: string): void
  /** Waits for reads in flight. */
  close(): Promise<void>
}

/** Dependencies of {@link createKeyCache}. */
interface KeyCacheDeps {
  /** Reads a stored key. */
  read: (id: string) => Promise<CheckedRow | undefined>
  /** Monotonic clock in milliseconds. */
  elapsedMs: () => number
  /** Called when a read finds a key revoked elsewhere; calls `revoke`. */
  onRevoked: (id: string) => void
  /** Called when a background read failed; the entry is read again once stale. */
  onError: (error: unknown) => void
}

/** Creates a cache of keys. */
export function createKeyCache({ read, elapsedMs, onRevoked, onError }: KeyCacheDeps): KeyCache {
  const known = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  // Separate, so that a flood of unknown ids evicts no valid key.
  const unknown = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  const reads = createReads(load)
  /** Counts changes made here. A read that began before a change may be outdated and is not cached. */
  let changes = 0

  async function load(id: string): Promise<Entry> {
    const readAt = elapsedMs()
    const before = changes
    const row = await read(id)
    // It may have been revoked here while the row was read.
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

  function peek(id: string): Entry | undefined {
    const entry = known.get(id) ?? unknown.get(id)
    if (entry === undefined) return undefined
    const age = elapsedMs() - entry.readAt
    if (age >= SERVED_FOR_MS) return undefined
    if (age >= REFRESHED_AFTER_MS && !reads.has(id)) reads.join(id).catch(onError)
    return entry
  }

  async function get(id: string): Promise<Entry> {
    const arrivedAt = elapsedMs()
    const entry = peek(id) ?? (await reads.join(id))
    // The call joined a read that began long before, while the store was locked.
    return arrivedAt - entry.readAt >= SERVED_FOR_MS ? reads.join(id) : entry
  }

  return {
    peek,
    seen(id, ageMs) {
      const entry = known.get(id)
      return entry !== undefined && elapsedMs() - entry.readAt < ageMs ? entry : undefined
    },
    get,
    async reread(id) {
      const arrivedAt = elapsedMs()
      const entry = await reads.join(id)
      // The call joined a read that began before it.
      return entry.readAt < arrivedAt ? reads.join(id) : entry
    },
    forget(concerns) {
      changes++
      reads.forget()
      for (const [id, { identity }] of known.entries()) if (identity !== null && concerns(identity)) known.delete(id)
    },
    revoke: (id) => void known.set(id, REVOKED),
    close: reads.ended,
  }
}

/** Reads of entries, shared by the calls that wait for the same one. */
function createReads(load: (id: string) => Promise<Entry>) {
  const reading = new Map<string, Promise<Entry>>()
  const underWay = new Set<Promise<Entry>>()

  return {
    has: (id: string) => reading.has(id),
    /** Joins the read of an entry, or begins one. */
    join(id: string): Promise<Entry> {
      const joined = reading.get(id)
      if (joined) return joined
      const started = load(id).finally(() => {
        underWay.delete(started)
        if (reading.get(id) === started) reading.delete(id)
      })
      underWay.add(started)
      reading.set(id, started)
      return started
    },
    /** Lets later calls begin reads of their own. */
    forget: () => reading.clear(),
    async ended(): Promise<void> {
      await Promise.allSettled(underWay)
    },
  }
}

/** Builds the entry of a key's row, or of an unknown id. */
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
