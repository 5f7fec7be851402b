import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { sweepTickets, type Tickets } from '../identity/tickets.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { ConnectionId, type ConnectionRecord, type LiveConnection, recordOf } from './live-connection.ts'
import { ALIVE_MS, askedToClose, removeInstance, sweepInstances, writeChanges } from './rows.ts'

export { ConnectionId, ConnectionRecord, type LiveConnection } from './live-connection.ts'

/** Interval of polls for connections to close, in milliseconds. */
const LOOK_MS = 2_000
/** Polls between two writes of received activity and of the heartbeat of this process. */
const LOOKS_OF_A_WRITE = 3
/** Delay after which new and closed connections are written together, in milliseconds. */
const WRITE_AFTER_MS = 250
const SWEEP_MS = 600_000

/**
 * Result of closing a connection:
 * - `closed`: done
 * - `closing`: the serving process closes it within 5 s
 * - `cancelled`: its ticket was revoked before it opened
 */
export const Closing = z.enum(['closed', 'closing', 'cancelled'])
export type Closing = z.infer<typeof Closing>

/** The open agent sockets of all processes on the store. */
export interface Connections {
  /** Registers a new connection that this process serves. */
  opened(connection: LiveConnection): void
  /** Notes activity on a connection that this process serves. */
  active(connection: LiveConnection): void
  /** Removes a closed connection that this process served. */
  gone(id: string): void
  /** Lists the connections of a key, or all for null, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged, keyId: string | null): Promise<Page<ConnectionRecord>>
  /**
   * Closes a connection of a key, or of any key for null, in whichever process serves it. Revokes a ticket that was not
   * used yet.
   *
   * @throws GazewayError `not_found`, also for another key's connection
   */
  end(id: string, keyId: string | null): Promise<Closing>
  /** Closes the connections that a key opened in this process. */
  endThoseOf(keyId: string): void
  /** Stops writing, and removes this process from the store. */
  close(): Promise<void>
}

/** @param deps.onError called when the store could not be written or read; the work is retried */
export function createConnections(deps: {
  store: Store
  tickets: Tickets
  now: () => Date
  onError: (error: unknown) => void
}): Connections {
  const { store, tickets, now, onError } = deps
  const { db } = store
  const instance = randomUUID()
  const served = new Map<string, LiveConnection>()
  const changed = new Set<string>()
  const gone = new Set<string>()
  let looks: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let checks = 0
  let writtenAt = now().getTime()
  let writing = Promise.resolve()
  let closed = false

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

  function writeSoon(): void {
    if (closed) return
    soon ??= setTimeout(() => void write().catch(onError), WRITE_AFTER_MS).unref()
  }

  async function look(): Promise<void> {
    for (const id of await askedToClose(store, instance)) served.get(id)?.close('asked')
    checks += 1
    if (checks % LOOKS_OF_A_WRITE === 0) await write()
  }

  /** Polls only while connections are open. */
  function keepLooking(): void {
    if (served.size === 0 || closed) {
      clearInterval(looks)
      looks = undefined
      return
    }
    looks ??= setInterval(() => {
      looking ??= look()
        .catch(onError)
        .finally(() => {
          looking = undefined
        })
    }, LOOK_MS).unref()
  }

  async function requestClose(id: string, keyId: string | null): Promise<boolean> {
    const at = now().toISOString()
    let update = db
      .updateTable('connections')
      .set({ closing_at: sql`coalesce(closing_at, ${at})` })
      .where('id', '=', id)
      .where('instance', 'in', aliveInstances(db, at))
    if (keyId !== null) update = update.where('key_id', '=', keyId)
    return (await update.returning('id').execute()).length === 1
  }

  return {
    opened(connection) {
      served.set(connection.id, connection)
      changed.add(connection.id)
      keepLooking()
      writeSoon()
    },
    active: ({ id }) => void changed.add(id),
    gone(id) {
      if (!served.delete(id)) return
      gone.add(id)
      keepLooking()
      writeSoon()
    },

    async list(page, keyId) {
      const { cursor, offset } = page
      // Waits until the store has everything that this process knows.
      await (changed.size > 0 || gone.size > 0 ? write() : writing)
      const at = now().toISOString()
      let matching = db.selectFrom('connections').where('instance', 'in', aliveInstances(db, at))
      if (keyId !== null) matching = matching.where('key_id', '=', keyId)
      // Ids sort by time of creation.
      let query = matching.selectAll().orderBy('id', 'desc')
      if (cursor !== undefined) query = query.where('id', '<', decodeCursor(cursor, z.tuple([ConnectionId]))[0])
      if (offset !== undefined) query = query.offset(offset)
      return readPage(page, {
        rows: (limit) => query.limit(limit).execute(),
        async total() {
          const counted = matching.select(sql<number>`count(*)`.as('total'))
          return Number((await counted.executeTakeFirstOrThrow()).total)
        },
        item: recordOf,
        cursor: (row) => [row.id],
      })
    },

    async end(id, keyId) {
      const here = served.get(id)
      if (here !== undefined && (keyId === null || here.keyId === keyId)) {
        here.close('asked')
        return 'closed'
      }
      if (await requestClose(id, keyId)) return 'closing'
      if (await tickets.cancel(id, keyId)) return 'cancelled'
      throw new GazewayError('not_found', 'There is no connection with this id; it may be closed already.', {
        param: 'id',
      })
    },

    endThoseOf(keyId) {
      for (const connection of [...served.values()]) if (connection.keyId === keyId) connection.close('revoked')
    },

    async close() {
      closed = true
      clearTimeout(soon)
      keepLooking()
      await looking
      await writing
      await removeInstance(store, instance)
    },
  }
}

/** Sweeps of old connections, for `startSweeps`. */
export function connectionSweeps(store: Store, now: () => Date): Sweep[] {
  return [
    { name: 'connections.tickets', everyMs: SWEEP_MS, batch: (limit) => sweepTickets(store, now(), limit) },
    { name: 'connections.instances', everyMs: SWEEP_MS, batch: (limit) => sweepInstances(store, now(), limit) },
  ]
}

const aliveInstances = (db: Kysely<Schema>, at: string) =>
  db.selectFrom('connection_instances').select('id').where('alive_until', '>', at)
