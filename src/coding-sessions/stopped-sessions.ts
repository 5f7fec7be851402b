import { type Base, logged } from '../base.ts'
import type { Store } from '../store/store.ts'
import { createListeners } from '../wire/listeners.ts'
import { createRepeated } from '../wire/repeated-runs.ts'

/** Interval of polls for stops by other processes, in milliseconds. */
const POLL_MS = 2_000
/** Overlap of polls in milliseconds, larger than the clock skew between machines on one store. */
const LOOK_BACK_MS = 600_000

/** Session of a key whose calls can be stopped. */
interface Stoppable {
  callerId: string
  sessionId: string
}

/** The sessions that admins have stopped, in any process of the store. */
export interface StoppedSessions {
  /**
   * Tells whether a session is stopped: as the store said within the last 2 s.
   *
   * @returns a promise only until the first ones are known
   * @throws the store's error, until the first ones are known
   */
  has(session: Stoppable): boolean | Promise<boolean>
  /** Calls `listener` once for each stop. */
  listen(listener: (session: Stoppable) => void): void
  /** Learns the changes of this process at once. */
  refresh(): Promise<void>
  /** Stops polling and waits for a poll in flight. */
  close(): Promise<void>
}

/** Opens the stopped sessions of a store. They are read with the first call of a session, and polled from then on. */
export const liveStoppedSessions = (base: Base): StoppedSessions =>
  createStoppedSessions(base.store, base.now, logged(base, 'Failed to read which sessions are stopped; will retry.'))

/** Creates the stopped sessions of `store`. @param onError called when a poll or a listener failed */
export function createStoppedSessions(
  store: Store,
  now: () => Date,
  onError: (error: unknown) => void,
): StoppedSessions {
  const stopped = new Set<string>()
  const listeners = createListeners<[session: Stoppable]>(onError)
  const polls = createRepeated(poll, { everyMs: POLL_MS, onError })
  /** Time up to which changes are known; null before all stops were read. */
  let knownTo: number | null = null
  let loading: Promise<void> | null = null

  async function read(since: Date | null): Promise<void> {
    const at = now().getTime()
    const states = store.db.selectFrom('session_states').select(['caller_id', 'session_id', 'stopped_at'])
    const changed =
      since === null
        ? states.where('stopped_at', 'is not', null)
        : states.where('changed_at', '>=', since.toISOString())
    for (const { caller_id: callerId, session_id: sessionId, stopped_at } of await changed.execute())
      note({ callerId, sessionId }, stopped_at !== null)
    knownTo = at
  }

  function note(session: Stoppable, isStopped: boolean): void {
    const name = nameOf(session)
    if (!isStopped) stopped.delete(name)
    else if (!stopped.has(name)) {
      stopped.add(name)
      listeners.tell(session)
    }
  }

  async function poll(): Promise<void> {
    if (knownTo === null) return load()
    await read(new Date(Math.min(knownTo, now().getTime()) - LOOK_BACK_MS))
  }

  function load(): Promise<void> {
    loading ??= read(null).finally(() => {
      loading = null
    })
    polls.start()
    return loading
  }

  return {
    has: (session) => {
      if (knownTo === null) return load().then(() => stopped.has(nameOf(session)))
      return stopped.size > 0 && stopped.has(nameOf(session))
    },
    listen: (listener) => void listeners.add(listener),
    // A poll that has begun may have read before the change.
    refresh: async () => {
      await polls.run()
      await polls.run()
    },
    close: polls.stop,
  }
}

/** Name of a session; ids of keys have no spaces. */
const nameOf = ({ callerId, sessionId }: Stoppable): string => `${callerId} ${sessionId}`
