import { randomBytes } from 'node:crypto'
import type { Store } from '../../store/store.ts'
import type { SealKey } from './seal.ts'

const DAY_MS = 24 * 3_600_000
/** Age at which a key is replaced, in milliseconds. */
const ROTATED_MS = 30 * DAY_MS
/** Age at which a key is deleted: what it sealed cannot be opened any more. */
const DELETED_MS = 120 * DAY_MS
/** Pause after a failure of the store, in milliseconds. */
const PAUSE_MS = 10_000
/** Ids remembered as unknown: clients may send any number of forged ones. */
const MOST_UNKNOWN = 1000

/** Keys that seal reasoning state. All processes that share a store share them. */
export interface SealKeys {
  /** The key to seal with. Null until `load`, or without a store. */
  current(): SealKey | null
  find(id: string): SealKey | undefined
  /**
   * Loads the keys when the current one is missing or old, or one of `ids` is unknown. Never rejects.
   *
   * @returns null when nothing has to be loaded
   */
  load(ids: readonly string[]): Promise<void> | null
  /** Deletes old keys. @returns their number */
  deleteOld(limit: number): Promise<number>
}

/**
 * Creates the keys. A new one is made every 30 days; older ones open what they sealed for 90 days more.
 *
 * @param deps.onError called when the store fails: reasoning is then shown, but not sealed
 */
export function createSealKeys(deps: { store: Store; now: () => Date; onError: (error: unknown) => void }): SealKeys {
  const { store, now, onError } = deps
  const known = new Map<string, SealKey>()
  /** Ids that the store does not have either. */
  const unknown = new Set<string>()
  let newest: { key: SealKey; createdAt: number } | null = null
  let loading: Promise<void> | null = null
  let pausedUntil = 0

  const isDue = () => newest === null || now().getTime() - newest.createdAt > ROTATED_MS

  async function read(): Promise<void> {
    const rows = await store.db.selectFrom('seal_keys').selectAll().orderBy('created_at').execute()
    for (const { id, secret, created_at } of rows) {
      const key = { id, secret: Buffer.from(secret, 'base64') }
      known.set(id, key)
      newest = { key, createdAt: new Date(created_at).getTime() }
    }
    if (isDue()) await add()
  }

  async function add(): Promise<void> {
    const key = { id: randomBytes(9).toString('base64url'), secret: randomBytes(32) }
    const at = now()
    const row = { id: key.id, secret: key.secret.toString('base64'), created_at: at.toISOString() }
    await store.db.insertInto('seal_keys').values(row).execute()
    known.set(key.id, key)
    newest = { key, createdAt: at.getTime() }
  }

  return {
    current: () => newest?.key ?? null,
    find: (id) => known.get(id),
    load(ids) {
      const missing = ids.filter((id) => !known.has(id) && !unknown.has(id))
      if (!isDue() && missing.length === 0) return null
      if (now().getTime() < pausedUntil) return null
      loading ??= read().finally(() => {
        loading = null
      })
      return loading.then(
        () => {
          if (unknown.size > MOST_UNKNOWN) unknown.clear()
          for (const id of missing) if (!known.has(id)) unknown.add(id)
        },
        (error) => {
          pausedUntil = now().getTime() + PAUSE_MS
          onError(error)
        },
      )
    },
    deleteOld(limit) {
      const before = new Date(now().getTime() - DELETED_MS).toISOString()
      return store.write(async (trx) => {
        const old = await trx
          .selectFrom('seal_keys')
          .select('id')
          .where('created_at', '<', before)
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .execute()
        const ids = old.map(({ id }) => id)
        if (ids.length > 0) await trx.deleteFrom('seal_keys').where('id', 'in', ids).execute()
        return ids.length
      })
    },
  }
}
