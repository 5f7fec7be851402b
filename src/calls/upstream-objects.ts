import { sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { UpstreamObjectRow } from '../store/tables/calls-tables.ts'
import type { QueuedCall } from './queued-call.ts'

/** Pattern of upstream ids. Others are not stored. */
const ID = /^[\w.:-]{1,200}$/
/** Ids looked up per statement. */
const LOOKED_FOR = 500

/** Owner of an id, and the upstream that gave it. */
export interface ObjectOwner {
  upstream: string
  /** True when the asking caller created the object. */
  isOwn: boolean
}

/** Stores the ids of objects that calls created, with the records of the calls. */
export async function addObjects(trx: Transaction<Schema>, calls: readonly QueuedCall[]): Promise<void> {
  const rows = new Map<string, UpstreamObjectRow>()
  for (const { record, made } of calls)
    for (const id of made)
      if (ID.test(id)) {
        const caller_id = record.caller_id ?? ''
        const key = `${id} ${caller_id}`
        // The first one wins, as in the table.
        rows.set(key, rows.get(key) ?? { id, caller_id, upstream: record.upstream, at: record.at })
      }
  // In key order, so that concurrent batches do not deadlock.
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await runBuiltRows(trx, 'insert upstream objects', sorted, (part) =>
    trx
      .insertInto('upstream_objects')
      .values(part)
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
}

/** Finds the origins of ids. Unknown ones are missing. The caller's own id takes precedence over one of another caller. */
export async function findOwners(
  { db }: Pick<Store, 'db'>,
  ids: readonly string[],
  callerId: string | null,
): Promise<ReadonlyMap<string, ObjectOwner>> {
  const owners = new Map<string, ObjectOwner>()
  const asked = ids.filter((id) => ID.test(id))
  for (let start = 0; start < asked.length; start += LOOKED_FOR) {
    const rows = await db
      .selectFrom('upstream_objects')
      .select((of) => [
        'id',
        of.fn.min('upstream').as('any'),
        of.fn
          .min('upstream')
          .filterWhere('caller_id', '=', callerId ?? '')
          .as('own'),
      ])
      .where('id', 'in', asked.slice(start, start + LOOKED_FOR))
      .groupBy('id')
      .execute()
    for (const { id, any, own } of rows) owners.set(id, { upstream: own ?? any, isOwn: own !== null })
  }
  return owners
}

/**
 * Deletes the oldest ids of whole hours before `before`, at most `limit`.
 *
 * @returns number of ids deleted
 */
export async function pruneObjects(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<object>`delete from upstream_objects where (id, caller_id) in
        (select id, caller_id from upstream_objects where at < ${hourOf(before)} order by at limit ${limit})
      returning id`.execute(trx)
    return rows.length
  })
}
