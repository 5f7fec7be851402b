import { type Kysely, sql } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { sweepTickets, type Tickets } from '../identity/tickets.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { sweepInstances } from './connection-rows.ts'
import { ConnectionId, type ConnectionRecord, type LiveConnection, recordOf } from './live-connection.ts'
import { serveConnections } from './served-connections.ts'

export { ConnectionId, ConnectionRecord, type LiveConnection } from './live-connection.ts'

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
  const { store, tickets, now } = deps
  const { db } = store
  const served = serveConnections(deps)

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
    opened: served.opened,
    active: served.active,
    gone: served.gone,

    async list(page, keyId) {
      const { cursor, offset } = page
      await served.written()
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
      const here = served.find(id)
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

    endThoseOf: served.endThoseOf,
    close: served.close,
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
