import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import { createCountChanges } from './count-changes.ts'
import { deleteMemories, isLive, REMOVED } from './memory-expiry.ts'
import { describePlace, generalNote, isAt, type Place } from './memory-place.ts'
import { MEMORY_COLUMNS, type Memory, toMemory } from './memory-record.ts'
import { earlierVersion, forgetVersions } from './memory-versions.ts'

/**
 * Deletes a memory by its id, with all its versions, index entries and vectors; also a superseded one.
 *
 * @param of.space space that must hold the memory; any space when undefined
 * @throws GazewayError `not_found`
 */
export async function removeMemory(
  trx: Transaction<Schema>,
  id: string,
  of: { space: number | undefined; now: string },
): Promise<void> {
  let query = trx.selectFrom('memories').select(REMOVED).where('id', '=', id)
  if (of.space !== undefined) query = query.where('space', '=', of.space)
  const row = await query.where(isLive(of.now)).forUpdate().executeTakeFirst()
  if (!row) return removeSuperseded(trx, id, of)
  const changes = createCountChanges()
  await deleteMemories(trx, [row], changes)
  await changes.write(trx)
}

/** Deletes those of some memories of a space that are still there. Returns their number. */
export async function removeMemories(
  trx: Transaction<Schema>,
  ids: readonly string[],
  { space, now }: { space: number; now: string },
): Promise<number> {
  if (ids.length === 0) return 0
  const rows = await trx
    .selectFrom('memories')
    .select(REMOVED)
    .where('space', '=', space)
    .where('id', 'in', ids)
    .where(isLive(now))
    .orderBy('seq')
    .forUpdate()
    .execute()
  const changes = createCountChanges()
  await deleteMemories(trx, rows, changes)
  await changes.write(trx)
  return rows.length
}

/** Deletes all versions of the key of a superseded memory. */
async function removeSuperseded(
  trx: Transaction<Schema>,
  id: string,
  of: { space: number | undefined },
): Promise<void> {
  let query = trx.selectFrom('memory_versions').select(['space', 'namespace', 'key', 'project']).where('id', '=', id)
  if (of.space !== undefined) query = query.where('space', '=', of.space)
  const place = await query.where('superseded_by', 'is not', null).executeTakeFirst()
  if (!place) throw new GazewayError('not_found', `There is no memory ${id}.`, { param: 'id' })
  await forgetVersions(trx, [place])
}

/**
 * Deletes the memory at a place, also a superseded one, and returns it as it was, without its value.
 *
 * @param version version that the caller has read; any when undefined
 * @throws GazewayError `not_found`; `version_conflict` when it is at another version
 */
export async function forgetMemory(
  trx: Transaction<Schema>,
  place: Place,
  { version, now }: { version: number | undefined; now: string },
): Promise<Memory> {
  const current = await trx
    .selectFrom('memories')
    .select(MEMORY_COLUMNS)
    .where(isAt(place))
    .where(isLive(now))
    .forUpdate()
    .executeTakeFirst()
  const row = current ?? (await supersededAt(trx, place, now))
  if (!row)
    throw new GazewayError('not_found', `There is no memory ${describePlace(place)}.${await generalNote(trx, place)}`, {
      param: 'key',
    })
  if (version !== undefined && row.version !== version)
    throw new GazewayError(
      'version_conflict',
      `Memory ${describePlace(place)} is at version ${row.version}, not at version ${version}. Recall it and decide again.`,
      { param: 'if_version' },
    )
  if (current) await removeMemory(trx, row.id, { space: place.space, now })
  else await forgetVersions(trx, [place])
  return { ...toMemory(row), value: null }
}

/** Reads the last version of a superseded memory; undefined when none was superseded there. */
async function supersededAt(trx: Transaction<Schema>, place: Place, now: string) {
  const last = await earlierVersion(trx, place, { now })
  return last?.superseded_by === null ? undefined : last
}
