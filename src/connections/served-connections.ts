import { randomUUID } from 'node:crypto'
import type { Store } from '../store/store.ts'
import { createRepeated } from '../wire/repeated-runs.ts'
import { ALIVE_MS, askedToClose, removeInstance, writeChanges } from './connection-rows.ts'
import type { LiveConnection } from './live-connection.ts'

/** Interval of polls for connections to close, in milliseconds. */
const LOOK_MS = 2_000
/** Polls between two writes of received activity and of the heartbeat of this process. */
const LOOKS_OF_A_WRITE = 3
/** Delay after which new and closed connections are written together, in milliseconds. */
const WRITE_AFTER_MS = 250

/** The connections that this process serves, kept in the store for the others. */
interface ServedConnections {
  opened(connection: LiveConnection): void
  active(connection: LiveConnection): void
  gone(id: string): void
  find(id: string): LiveConnection | undefined
  endThoseOf(keyId: string): void
  /** Waits until the store has everything that this process knows. @throws the store's error */
  written(): Promise<void>
  /** Stops writing, and removes this process from the store. */
  close(): Promise<void>
}

/**
 * Writes the connections of this process, and closes those that other processes ask to close.
 *
 * @param deps.onError called when the store could not be written or read; the work is retried
 */
export function serveConnections(deps: {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
}): ServedConnections {
  const { store, onError } = deps
  const instance = randomUUID()
  const served = new Map<string, LiveConnection>()
  const rows = createRows(deps, instance, served)
  const polls = createRepeated(poll, { everyMs: LOOK_MS, onError })
  let checks = 0

  async function poll(): Promise<void> {
    for (const id of await askedToClose(store, instance)) served.get(id)?.close('asked')
    checks += 1
    if (checks % LOOKS_OF_A_WRITE === 0) await rows.write()
  }

  return {
    opened(connection) {
      served.set(connection.id, connection)
      rows.changed(connection.id)
      polls.start()
      rows.writeSoon()
    },
    active: ({ id }) => rows.changed(id),
    gone(id) {
      if (!served.delete(id)) return
      rows.gone(id)
      if (served.size === 0) void polls.stop()
      rows.writeSoon()
    },
    find: (id) => served.get(id),
    endThoseOf(keyId) {
      for (const connection of [...served.values()]) if (connection.keyId === keyId) connection.close('revoked')
    },
    written: rows.written,
    async close() {
      rows.stop()
      await polls.stop()
      await rows.idle()
      await removeInstance(store, instance)
    },
  }
}

/** The rows of this process's connections: what has changed since they were written. */
function createRows(
  { store, now, onError }: { store: Store; now: () => Date; onError: (error: unknown) => void },
  instance: string,
  served: ReadonlyMap<string, LiveConnection>,
) {
  const changed = new Set<string>()
  const gone = new Set<string>()
  let soon: NodeJS.Timeout | undefined
  let stopped = false
  let writtenAt = now().getTime()
  let writing = Promise.resolve()

  async function writeAll(): Promise<void> {
    const at = now()
    // After a long pause (such as a suspended machine), another process may have deleted the rows of this one.
    if (at.getTime() - writtenAt > ALIVE_MS) for (const id of served.keys()) changed.add(id)
    const alive = [...changed].flatMap((id) => served.get(id) ?? [])
    const ended = [...gone]
    changed.clear()
    gone.clear()
    try {
      await writeChanges(store, { instance, now: at, changed: alive, gone: ended })
      writtenAt = at.getTime()
    } catch (error) {
      for (const { id } of alive) changed.add(id)
      for (const id of ended) gone.add(id)
      throw error
    }
  }

  /** Serializes the writes: a later one must not overtake the one that inserts a row. */
  function write(): Promise<void> {
    clearTimeout(soon)
    soon = undefined
    const written = writing.then(writeAll)
    // The caller of `write` receives the error.
    writing = written.catch(() => {})
    return written
  }

  return {
    changed: (id: string) => void changed.add(id),
    gone: (id: string) => void gone.add(id),
    write,
    writeSoon() {
      if (stopped) return
      soon ??= setTimeout(() => void write().catch(onError), WRITE_AFTER_MS).unref()
    },
    written: () => (changed.size > 0 || gone.size > 0 ? write() : writing),
    idle: () => writing,
    stop() {
      stopped = true
      clearTimeout(soon)
    },
  }
}
