import { sql, type Transaction } from 'kysely'
import { runBuiltRows } from '../store/built.ts'
import { hourOf } from '../store/dates.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { UpstreamObjectRow } from '../store/tables/calls-tables.ts'
import type { QueuedCall } from './call-writer.ts'

/** What ids of upstreams look like; nothing else is kept. */
const ID = /^[\w.:-]{1,200}$/

/** Whose an id is, and which upstream gave it. */
export interface ObjectOwner {
  upstream: string
  /** Whether the caller who asks has made it. */
  isOwn: boolean
}

/** Keeps the ids of what calls made, with the records of the calls. */
export async function addObjects(trx: Transaction<Schema>, calls: readonly QueuedCall[]): Promise<void> {
  const rows = new Map<string, UpstreamObjectRow>()
  for (const { record, made } of calls)
    for (const id of made)
      if (ID.test(id)) {
        const caller_id = record.caller_id ?? ''
        const key = `${id} ${caller_id}`
        // The first stays, as it does in the table.
        rows.set(key, rows.get(key) ?? { id, caller_id, upstream: record.upstream, at: record.at })
      }
  // In an order that all batches keep, so that concurrent ones never wait in a circle.
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await runBuiltRows(trx, 'insert upstream objects', sorted, (part) =>
    trx
      .insertInto('upstream_objects')
      .values(part)
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
}

/** Where an id comes from; null where it is not known. An id that the caller has made is found before one of others. */
export async function findOwner(
  { db }: Pick<Store, 'db'>,
  id: string,
  callerId: string | null,
): Promise<ObjectOwner | null> {
  const caller = callerId ?? ''
  const row = await db
    .selectFrom('upstream_objects')
    .select(['upstream', 'caller_id'])
    .where('id', '=', id)
    .orderBy(sql`case when caller_id = ${caller} then 0 else 1 end`)
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? null : { upstream: row.upstream, isOwn: row.caller_id === caller }
}

/** Forgets the oldest ids of whole hours before `before`, at most `limit`. @returns how many were forgotten */
export async function pruneObjects(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<object>`delete from upstream_objects where (id, caller_id) in
        (select id, caller_id from upstream_objects where at < ${hourOf(before)} order by at limit ${limit})
      returning id`.execute(trx)
    return rows.length
  })
}
