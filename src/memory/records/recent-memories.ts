import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import * as z from 'zod'
import { decodeCursor, MAX_COUNTED, type Page, type Paged, pageReader, readPage } from '../../store/page.ts'
import { widthOf } from '../../store/row-bytes.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { isLive } from './memory-expiry.ts'
import type { InProjects } from './memory-place.ts'
import { MEMORY_COLUMNS, type Memory, type MemoryList, toMemory } from './memory-record.ts'
import { totals } from './memory-totals.ts'
import { type Caller, isTrustedBy } from './trusted-writers.ts'

const Place = z.tuple([z.string(), z.int()])

/** Filter of a list. A null `project` selects memories without one. `trustedBy` does not filter `total`. */
export type RecentQuery = Omit<MemoryList, 'project'> & {
  project?: string | null | undefined
  trustedBy?: Caller | undefined
  /** False for a `total` of 0: to count reads up to 1,000 rows. True by default. */
  counted?: boolean
}

/**
 * Lists memories of a space, the latest stored first. Each page is read from an index. `total` comes from the running
 * totals, or from an index when a tag or a project is given.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function recentMemories(
  store: Store,
  space: number,
  query: Paged<RecentQuery>,
  now: string,
): Promise<Page<Memory>> {
  const { namespace, tag, project, trustedBy, counted = true, cursor, offset = 0 } = query
  const db = pageReader(store, query)
  const listed =
    tag === undefined ? sql`memories` : sql`memory_tags as listed join memories on memories.seq = listed.seq`
  const order = sql.table(tag === undefined ? 'memories' : 'listed')
  const conditions = [isLive(now), sql<boolean>`${order}.space = ${space}`]
  if (tag !== undefined) conditions.push(sql`listed.tag = ${tag}`)
  if (project !== undefined) conditions.push(isOf(project))
  if (namespace !== undefined) conditions.push(sql`${order}.namespace = ${namespace}`)
  if (trustedBy !== undefined) conditions.push(isTrustedBy(trustedBy))
  if (cursor !== undefined) {
    const [updatedAt, seq] = decodeCursor(cursor, Place)
    conditions.push(sql`(${order}.updated_at, ${order}.seq) < (${updatedAt}, ${seq})`)
  }
  const select = async <Row>(columns: RawBuilder<unknown>, limit: number) => {
    const { rows } = await sql<Row>`select ${columns} from ${listed} where ${sql.join(conditions, sql` and `)}
      order by ${order}.updated_at desc, ${order}.seq desc limit ${limit} offset ${offset}`.execute(db)
    return rows
  }
  return readPage<Selectable<MemoryRow>, Memory>(query, {
    rows: (limit) => select(LISTED, limit),
    async sizes(limit) {
      const width = widthOf(store.engine, ['memories.value', 'memories.tags'])
      const rows = await select<{ bytes: number }>(sql`${width} as bytes`, limit)
      return rows.map(({ bytes }) => bytes)
    },
    total: async () => (counted ? count(db, space, query, now) : 0),
    item: toMemory,
    cursor: (row) => [row.updated_at, row.seq],
  })
}

const LISTED = sql.join(['seq', ...MEMORY_COLUMNS].map((column) => sql.ref(`memories.${column}`)))

/** SQL condition: memories of a project, or of no project for null. */
const isOf = (project: string | null) =>
  project === null ? sql<boolean>`memories.project is null` : sql<boolean>`memories.project = ${project}`

function count(db: Kysely<Schema>, space: number, query: RecentQuery, now: string): Promise<number> {
  const { namespace, tag, project } = query
  if (project !== undefined) return countOfProject(db, space, { ...query, project }, now)
  return tag === undefined ? countAll(db, space, namespace, now) : countTagged(db, space, tag, namespace, now)
}

/** Counts the memories of a space, or of one namespace, at `now`. */
async function countAll(
  db: Kysely<Schema>,
  space: number,
  namespace: string | undefined,
  now: string,
): Promise<number> {
  return (await totals(db, now, space, namespace)).reduce((sum, row) => sum + row.memories, 0)
}

/**
 * Counts memories with a tag, up to `MAX_COUNTED`, in the tag's index. Expired memories not yet swept do not count.
 */
async function countTagged(
  db: Kysely<Schema>,
  space: number,
  tag: string,
  namespace: string | undefined,
  now: string,
): Promise<number> {
  const inNamespace = namespace === undefined ? sql`` : sql`and listed.namespace = ${namespace}`
  const { rows } = await sql<{ count: number }>`select
    (select count(*) from
      (select 1 from memory_tags as listed where space = ${space} and tag = ${tag} ${inNamespace} limit ${MAX_COUNTED}) as counted)
    - (select count(*) from
      (select 1 from memories join memory_tags as listed on listed.seq = memories.seq and listed.tag = ${tag}
       where memories.space = ${space} and memories.expires_at <= ${now} ${inNamespace} limit ${MAX_COUNTED}) as expired) as count`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** Counts memories of a project, up to `MAX_COUNTED`, in the project's index. */
async function countOfProject(
  db: Kysely<Schema>,
  space: number,
  { namespace, tag, project }: RecentQuery & { project: string | null },
  now: string,
): Promise<number> {
  const conditions = [sql`memories.space = ${space}`, isOf(project), isLive(now)]
  if (namespace !== undefined) conditions.push(sql`memories.namespace = ${namespace}`)
  if (tag !== undefined)
    conditions.push(sql`exists (select 1 from memory_tags where seq = memories.seq and tag = ${tag})`)
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select 1 from memories where ${sql.join(conditions, sql` and `)} limit ${MAX_COUNTED}) as counted`.execute(db)
  return rows[0]?.count ?? 0
}

/** Query for the newest memories. */
export type NewestQuery = InProjects<{ projects?: 'all' | undefined; limit: number }>

/** Lists the newest memories of some projects and of none, or of all projects. */
export async function newestMemories(
  store: Store,
  space: number,
  { project = null, projects, limit, trustedBy }: NewestQuery & { trustedBy: Caller },
  at: string,
): Promise<Memory[]> {
  const list = async (of: { project?: string | null }) =>
    (await recentMemories(store, space, { ...of, trustedBy, limit, counted: false }, at)).items
  if (projects === 'all') return list({})
  // A list of each project from its index, so that memories of other projects are never scanned.
  const found = await Promise.all([null, ...[project ?? []].flat()].map((one) => list({ project: one })))
  return found
    .flat()
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    .slice(0, limit)
}
