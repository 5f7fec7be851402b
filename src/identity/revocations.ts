import { LRUCache } from 'lru-cache'
import type { Store } from '../store/store.ts'

/** How often the store is asked for revocations by other processes, in milliseconds. */
const POLL_MS = 2_000
/** How far back from the last answer it is asked: more than the clocks of machines that share a store differ, in milliseconds. */
const LOOK_BACK_MS = 600_000
const MAX_ANNOUNCED = 10_000

/** Why a key is refused from now on. An end may be moved; a revocation is for good. */
export type Ending = 'revoked' | 'expired'

/** Told of each key that is refused from now on. */
export type EndListener = (id: string, ending: Ending) => void

/** Tells who listens that a key is revoked, whichever process did it, or has expired. */
export interface Revocations {
  /** A key is found to be revoked: it is forgotten, and listeners are told, once. */
  announce(id: string): void
  /**
   * Calls `listener` with the id of each key that is revoked, once, or has expired, every 2 s for ten minutes; within some 2 s, or once the store can be asked again; and at
   * first with those of the last ten minutes. The store is polled only while someone listens; listen once, for as long as the process serves.
   *
   * @returns stops listening
   */
  listen(listener: EndListener): () => void
  /** Stops polling, and waits for a poll that is under way. */
  close(): Promise<void>
}

/**
 * @param forget makes the key fail from now on, before listeners are told
 * @param onError told when a poll or a listener failed
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
  const listeners = new Set<EndListener>()
  const announced = new LRUCache<string, true>({ max: MAX_ANNOUNCED })
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  /** Up to when revocations are known, by a clock that may be set: a machine may have slept since, or its store been away. */
  let knownTo = now().getTime()

  function announce(id: string): void {
    forget(id)
    if (announced.has(id)) return
    announced.set(id, true)
    tell(id, 'revoked')
  }

  function tell(id: string, ending: Ending): void {
    for (const listener of listeners) {
      try {
        listener(id, ending)
      } catch (error) {
        onError(error)
      }
    }
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
    // Each time, for those who were let in just before; the end of a key may have been moved since, and be passed again.
    for (const { id } of expired) tell(id, 'expired')
  }

  function tick(): void {
    polling ??= poll()
      .catch(onError)
      .finally(() => {
        polling = undefined
      })
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    announce,
    listen(listener) {
      listeners.add(listener)
      timer ??= setInterval(tick, POLL_MS).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
    async close() {
      stop()
      await polling
    },
  }
}
