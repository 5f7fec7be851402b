import { LRUCache } from 'lru-cache'
import type { Store } from '../store/store.ts'

/** How often the store is asked for revocations by other processes, in milliseconds. */
const POLL_MS = 2_000
/** How far back from the last answer it is asked: more than the clocks of machines that share a store differ, in milliseconds. */
const LOOK_BACK_MS = 600_000
const MAX_ANNOUNCED = 10_000

/** Tells who listens that a key is revoked, whichever process did it, or has expired. */
export interface Revocations {
  /** A key is found to be revoked: it is forgotten, and listeners are told, once. */
  announce(id: string): void
  /**
   * Calls `listener` with the id of each key that is revoked or expires, within some 2 s, or once the store can be asked again; and at
   * first with those of the last ten minutes. The store is polled only while someone listens; listen once, for as long as the process serves.
   *
   * @returns stops listening
   */
  listen(listener: (id: string) => void): () => void
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
  const listeners = new Set<(id: string) => void>()
  const announced = new LRUCache<string, true>({ max: MAX_ANNOUNCED })
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  /** Up to when revocations are known, by a clock that may be set: a machine may have slept since, or its store been away. */
  let knownTo = now().getTime()

  function announce(id: string): void {
    forget(id)
    tell(id, id)
  }

  /** @param once of what it is told one time at most */
  function tell(id: string, once: string): void {
    if (announced.has(once)) return
    announced.set(once, true)
    for (const listener of listeners) {
      try {
        listener(id)
      } catch (error) {
        onError(error)
      }
    }
  }

  async function poll(): Promise<void> {
    const at = now().getTime()
    const since = new Date(Math.min(knownTo, at) - LOOK_BACK_MS).toISOString()
    const revoked = store.db.selectFrom('keys').select('id').where('revoked_at', '>=', since)
    const expired = store.db
      .selectFrom('keys')
      .select(['id', 'expires_at'])
      .where('expires_at', '>=', since)
      .where('expires_at', '<=', new Date(at).toISOString())
    const [ended, over] = await Promise.all([revoked.execute(), expired.execute()])
    knownTo = at
    for (const { id } of ended) announce(id)
    // Not forgotten: its end may be moved.
    for (const { id, expires_at } of over) tell(id, `${id} ${expires_at}`)
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
