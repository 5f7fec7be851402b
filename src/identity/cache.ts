import { LRUCache } from 'lru-cache'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { type Identity, identityOf } from './identity.ts'

/** Keys that are remembered, and as many made-up ids. */
const MAX_ENTRIES = 10_000
/** Age at which an entry is still served but read again in the background, in milliseconds. */
const REFRESHED_AFTER_MS = 2_000
/** Age at which an entry is no longer served. With the time that a read takes, a revocation is seen within 5 s. */
const SERVED_FOR_MS = 4_000

/** The columns that a check needs. */
export const CHECKED_COLUMNS = ['id', 'name', 'hash', 'scopes', 'wallet', 'revoked_at'] as const
/** A key's row as far as a check needs it. */
export type CheckedRow = Pick<KeyRow, (typeof CHECKED_COLUMNS)[number]>

/** What is remembered about one id. Only the bearer of a token with this `hash` has this `identity`. */
export interface Entry {
  hash: Buffer
  /** Null where no key with this id is in force. */
  identity: Identity | null
  /** When the read began, on the clock of `elapsedMs`. */
  readAt: number
  /** Whether its use has been noted. */
  used: boolean
}

const NO_HASH = Buffer.alloc(32)

/** A revocation is for good, so this entry never grows old. */
const REVOKED: Entry = Object.freeze({ hash: NO_HASH, identity: null, readAt: Infinity, used: false })

/** Keys by id, as of at most 4 s ago. */
export interface KeyCache {
  /** What is remembered, where that is recent enough. */
  peek(id: string): Entry | undefined
  /** The same, read from the store where necessary. @throws the store's error */
  get(id: string): Promise<Entry>
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

  async function load(id: string): Promise<Entry> {
    const readAt = elapsedMs()
    const row = await read(id)
    // It may have been revoked here while the row was on its way.
    if (known.get(id) === REVOKED) return REVOKED
    if (row?.revoked_at) {
      onRevoked(id)
      return REVOKED
    }
    const entry = row
      ? { hash: Buffer.from(row.hash, 'hex'), identity: identityOf(row), readAt, used: false }
      : { hash: NO_HASH, identity: null, readAt, used: false }
    if (row) known.set(id, entry)
    else unknown.set(id, entry)
    return entry
  }

  function refresh(id: string): Promise<Entry> {
    const underWay = reading.get(id)
    if (underWay) return underWay
    const started = load(id).finally(() => reading.delete(id))
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
    revoke: (id) => void known.set(id, REVOKED),
    async close() {
      await Promise.allSettled(reading.values())
    },
  }
}
