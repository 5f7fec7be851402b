import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MemoryRow, MemoryVersionRow } from '../../store/tables/memory-tables.ts'

/** Earlier versions kept per key, the latest ones. */
const KEPT = 20

/** A key of a space. */
export type Place = Pick<MemoryRow, 'space' | 'namespace' | 'key'>

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
 * versions.
 *
 * @param supersededBy key of the memory that supersedes it; null when the next version of the same key replaces it
 */
export async function keepVersion(
  trx: Transaction<Schema>,
  memory: Place & { seq: number; version: number },
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
  await deletion(trx, memory)
    .where('version', '<=', memory.version - KEPT)
    .execute()
}

/** Deletes all earlier versions of some keys. */
export async function forgetVersions(trx: Transaction<Schema>, places: readonly Place[]): Promise<void> {
  for (const place of places) await deletion(trx, place).execute()
}

const deletion = (trx: Transaction<Schema>, { space, namespace, key }: Place) =>
  trx.deleteFrom('memory_versions').where('space', '=', space).where('namespace', '=', namespace).where('key', '=', key)

/** Reads an unexpired earlier version of a key: the requested one, else the latest. */
export async function earlierVersion(
  db: Kysely<Schema>,
  { space, namespace, key }: Place,
  { version, now }: { version?: number | undefined; now: string },
): Promise<Selectable<MemoryVersionRow> | undefined> {
  const kept = db
    .selectFrom('memory_versions')
    .selectAll()
    .where('space', '=', space)
    .where('namespace', '=', namespace)
    .where('key', '=', key)
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
  const { numAffectedRows } = await sql`delete from memory_versions where (space, namespace, key, version) in
    (select space, namespace, key, version from memory_versions where ${condition} limit ${limit})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
