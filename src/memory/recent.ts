import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { decodeCursor, MOST_COUNTED, type Page, toPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { MemoryRow } from '../store/tables/memory.ts'
import { isLive } from './expiry.ts'
import { MEMORY_COLUMNS, type Memory, type MemoryList, toMemory } from './record.ts'
import { totals } from './totals.ts'

const Place = z.tuple([z.string(), z.int()])

/**
 * Lists memories, the last stored first. Each page is read from an index, and `total` from the running totals or, with
 * a tag, from the tag's index.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function recentMemories(db: Kysely<Schema>, query: MemoryList, now: string): Promise<Page<Memory>> {
  const { namespace, tag, limit, cursor, offset = 0 } = query
  const listed =
    tag === undefined ? sql`memories` : sql`memory_tags as listed join memories on memories.seq = listed.seq`
  const order = sql.table(tag === undefined ? 'memories' : 'listed')
  const conditions = [isLive(now)]
  if (tag !== undefined) conditions.push(sql`listed.tag = ${tag}`)
  if (namespace !== undefined) conditions.push(sql`${order}.namespace = ${namespace}`)
  if (cursor !== undefined) {
    const [updatedAt, seq] = decodeCursor(cursor, Place)
    conditions.push(sql`(${order}.updated_at, ${order}.seq) < (${updatedAt}, ${seq})`)
  }
  const { rows } = await sql<MemoryRow & { seq: number }>`
    select memories.seq, ${sql.join(MEMORY_COLUMNS.map((column) => sql.ref(`memories.${column}`)))} from ${listed}
    where ${sql.join(conditions, sql` and `)}
    order by ${order}.updated_at desc, ${order}.seq desc limit ${limit + 1} offset ${offset}`.execute(db)
  return toPage(rows, {
    limit,
    total: tag === undefined ? await countAll(db, namespace, now) : await countTagged(db, tag, namespace, now),
    item: toMemory,
    cursor: (row) => [row.updated_at, row.seq],
  })
}

/** How many memories `namespace` (or the whole store) holds at `now`. */
export async function countAll(db: Kysely<Schema>, namespace: string | undefined, now: string): Promise<number> {
  return (await totals(db, now, namespace)).reduce((sum, row) => sum + row.memories, 0)
}

/** Counted in the tag's index, up to `MOST_COUNTED`, less those that have expired and are not yet swept. */
async function countTagged(
  db: Kysely<Schema>,
  tag: string,
  namespace: string | undefined,
  now: string,
): Promise<number> {
  const inNamespace = namespace === undefined ? sql`` : sql`and listed.namespace = ${namespace}`
  const { rows } = await sql<{ count: number }>`select
    (select count(*) from
      (select 1 from memory_tags as listed where tag = ${tag} ${inNamespace} limit ${MOST_COUNTED}) as counted)
    - (select count(*) from
      (select 1 from memories join memory_tags as listed on listed.seq = memories.seq and listed.tag = ${tag}
       where memories.expires_at <= ${now} ${inNamespace} limit ${MOST_COUNTED}) as expired) as count`.execute(db)
  return rows[0]?.count ?? 0
}
