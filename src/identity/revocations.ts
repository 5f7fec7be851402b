import { LRUCache } from 'lru-cache'
import type { Store } from '../store/store.ts'
import { createListeners } from '../wire/listeners.ts'
import { createRepeated } from '../wire/repeated-runs.ts'

/** Interval of polls for revocations by other processes, in milliseconds. */
const POLL_MS = 2_000
/** Overlap of polls in milliseconds, larger than the clock skew between machines on one store. */
const LOOK_BACK_MS = 600_000
const MAX_ANNOUNCED = 10_000

/** Reason why a key ended. Expiry may be extended; a revocation is final. */
export type Ending = 'revoked' | 'expired'

/** Listener for keys that ended. */
export type EndListener = (id: string, ending: Ending) => void

/** Notifications about revoked and expired keys of all processes. */
export interface Revocations {
  /** Drops a revoked key from the cache and notifies listeners, once. */
  announce(id: string): void
  /**
   * Calls `listener` for each key that ends, within about 2 s or once the store is reachable again. Revoked keys are
   * reported once, expired ones every 2 s for ten minutes. Starts with those of the last ten minutes. Polls the store
   * while it has listeners, so listen once per process.
   *
   * @returns a function that stops listening
   */
  listen(listener: EndListener): () => void
  /** Stops polling and waits for a poll in flight. */
  close(): Promise<void>
}

/**
 * Creates the notifications.
 *
 * @param forget invalidates a key before listeners are notified
 * @param onError called when a poll or a listener failed
 */
export function createRevocations({
  store,
  now,
  forget,
  onError,
}: {
  store: Store
  now: () => Date
  forget: (id: string) => void
  onError: (error: unknown) => void
}): Revocations {
  const listeners = createListeners<Parameters<EndListener>>(onError)
  const announced = new LRUCache<string, true>({ max: MAX_ANNOUNCED })
  const polls = createRepeated(poll, { everyMs: POLL_MS, onError })
  /**
   * Time up to which revocations are known. By the wall clock, because the machine or the store may have been
   * suspended.
   */
  let knownTo = now().getTime()

  function announce(id: string): void {
    forget(id)
    if (announced.has(id)) return
    announced.set(id, true)
    listeners.tell(id, 'revoked')
  }

  async function poll(): Promise<void> {
    const at = now().getTime()
    const since = new Date(Math.min(knownTo, at) - LOOK_BACK_MS).toISOString()
    const keys = store.db.selectFrom('keys').select('id')
    const revoked = await keys.where('revoked_at', '>=', since).execute()
    const expired = await keys
      .where('expires_at', '>=', since)
      .where('expires_at', '<=', new Date(at).toISOString())
      .execute()
    knownTo = at
    for (const { id } of revoked) announce(id)
    // Repeated for callers that were authenticated just before. The expiry may also have been moved and passed again.
    for (const { id } of expired) listeners.tell(id, 'expired')
  }

  return {
    announce,
    listen(listener) {
      const remove = listeners.add(listener)
      polls.start()
      return () => {
        remove()
        if (listeners.count() === 0) void polls.stop()
      }
    },
    close: polls.stop,
  }
}
