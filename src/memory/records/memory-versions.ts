import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MemoryVersionRow } from '../../store/tables/memory-tables.ts'
import { hasTag, isAt, type Place } from './memory-place.ts'
import { OF_SESSION } from './memory-record.ts'

/** Earlier versions kept per key, the latest ones. */
const KEPT = 20

/** Columns kept of an earlier version. */
const COLUMNS = [
  'id',
  'space',
  'project',
  'namespace',
  'key',
  'value',
  'tags',
  'also',
  'written_by',
  'version',
  'created_at',
  'updated_at',
  'expires_at',
] as const

/**
 * Keeps the current version of a memory that is about to be replaced. Each key keeps its latest twenty earlier
 * versions, and the latest that is not of the session that stored the current one, which can be taken back.
 *
 * @param supersededBy key of the memory that supersedes it; null when the next version of the same key replaces it
 */
export async function keepVersion(
  trx: Transaction<Schema>,
  memory: Place & { seq: number; version: number; tags: string },
  supersededBy: string | null,
): Promise<void> {
  await trx
    .insertInto('memory_versions')
    .columns([...COLUMNS, 'superseded_by'])
    .expression((from) =>
      from
        .selectFrom('memories')
        .select([...COLUMNS, sql<string | null>`cast(${supersededBy} as text)`.as('superseded_by')])
        .where('seq', '=', memory.seq),
    )
    .execute()
  const surplus = deletion(trx, memory).where('version', '<=', memory.version - KEPT)
  const session = (JSON.parse(memory.tags) as string[]).find((tag) => tag.startsWith(OF_SESSION))
  if (session === undefined) return void (await surplus.execute())
  const others = trx
    .selectFrom('memory_versions')
    .where(isAt(memory))
    .where(sql<boolean>`not ${hasTag(session)}`)
  const latest = others.select(sql<number>`coalesce(max(version), 0)`.as('latest'))
  await surplus.where('version', '<>', latest).execute()
}

/** Deletes all earlier versions of some keys. */
export async function forgetVersions(trx: Transaction<Schema>, places: readonly Place[]): Promise<void> {
  for (const place of places) await deletion(trx, place).execute()
}

const deletion = (trx: Transaction<Schema>, place: Place) => trx.deleteFrom('memory_versions').where(isAt(place))

/** Reads an unexpired earlier version of a key: the requested one, else the latest. */
export async function earlierVersion(
  db: Kysely<Schema>,
  place: Place,
  { version, now }: { version?: number | undefined; now: string },
): Promise<Selectable<MemoryVersionRow> | undefined> {
  const kept = db
    .selectFrom('memory_versions')
    .selectAll()
    .where(isAt(place))
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
    .orderBy('version', 'desc')
    .limit(1)
  return (version === undefined ? kept : kept.where('version', '=', version)).executeTakeFirst()
}

/** Deletes versions that satisfy a condition, at most `limit`. Returns their number. */
export async function deleteVersions(
  trx: Transaction<Schema>,
  which: { expiredBy: string } | { space: number },
  limit: number,
): Promise<number> {
  const condition = 'space' in which ? sql`space = ${which.space}` : sql`expires_at <= ${which.expiredBy}`
  const { numAffectedRows } = await sql`delete from memory_versions where (id, version) in
    (select id, version from memory_versions where ${condition} limit ${limit})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
