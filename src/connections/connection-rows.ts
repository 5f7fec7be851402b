import type { Transaction } from 'kysely'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ConnectionRow } from '../store/tables/connections-tables.ts'
import { type LiveConnection, rowOf } from './live-connection.ts'

/** Time that an instance counts as alive after its last heartbeat, in milliseconds; clocks may differ by 20 s. */
export const ALIVE_MS = 30_000
/**
 * Time that connections of a silent instance are kept, in milliseconds. The instance may be suspended, and must still
 * close them on request.
 */
const ASLEEP_MS = 24 * 3_600_000
/** Ids per statement. */
const BATCH = 500

/** Pending writes for the connections of one instance. */
export interface Changes {
  instance: string
  now: Date
  /** New connections, and those with activity. */
  changed: readonly LiveConnection[]
  /** Ids of closed connections. */
  gone: readonly string[]
}

/** Writes the changes and the heartbeat of the instance. */
export async function writeChanges(store: Store, { instance, now, changed, gone }: Changes): Promise<void> {
  // Sorted by id, so that requests that lock several connections use the same order.
  const rows = changed.map((live) => rowOf(live, instance)).sort((a, b) => (a.id < b.id ? -1 : 1))
  const alive_until = new Date(now.getTime() + ALIVE_MS).toISOString()
  await store.write(async (trx) => {
    await trx
      .insertInto('connection_instances')
      .values({ id: instance, alive_until })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ alive_until }))
      .execute()
    for (const row of rows) await keepRow(trx, row)
    for (const some of inBatches(gone)) await trx.deleteFrom('connections').where('id', 'in', some).execute()
  })
}

/** One statement per row, built once: building a statement for many rows takes far longer. */
async function keepRow(trx: Transaction<Schema>, row: ConnectionRow): Promise<void> {
  await runBuilt(trx, 'connections.keep', Object.values(row), () =>
    trx
      .insertInto('connections')
      .values(row)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((eb) => ({
          messages: eb.ref('excluded.messages'),
          last_active_at: eb.ref('excluded.last_active_at'),
        })),
      )
      .compile(),
  )
}

/** Lists connections of an instance that another process asked to close. */
export async function askedToClose({ db }: Store, instance: string): Promise<string[]> {
  const rows = await db
    .selectFrom('connections')
    .select('id')
    .where('instance', '=', instance)
    .where('closing_at', 'is not', null)
    .execute()
  return rows.map((row) => row.id)
}

/** Deletes an instance with all its connections. */
export async function removeInstance(store: Store, instance: string): Promise<void> {
  await store.write((trx) => remove(trx, [instance]))
}

/** Deletes at most `limit` long dead instances, with their connections. @returns the number of deleted instances */
export function sweepInstances(store: Store, now: Date, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const dead = await trx
      .selectFrom('connection_instances')
      .select('id')
      .where('alive_until', '<=', new Date(now.getTime() - ASLEEP_MS).toISOString())
      .orderBy('id')
      .limit(limit)
      .forUpdate()
      .execute()
    if (dead.length > 0) {
      await remove(
        trx,
        dead.map(({ id }) => id),
      )
    }
    return dead.length
  })
}

async function remove(trx: Transaction<Schema>, instances: readonly string[]): Promise<void> {
  await trx.deleteFrom('connections').where('instance', 'in', instances).execute()
  await trx.deleteFrom('connection_instances').where('id', 'in', instances).execute()
}

function* inBatches<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH)
}
