import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import { describePlace, isAt, type Place } from './memory-place.ts'

/** Result of moving memories. `kept`: keys that the other project has too, as `NAMESPACE/KEY`; those stay. */
export interface MovedMemories {
  moved: number
  kept: string[]
}

/** Moves all memories of a project with their versions into another. None is overwritten. */
export async function moveMemories(
  trx: Transaction<Schema>,
  { space, from, to }: { space: number; from: string; to: string },
): Promise<MovedMemories> {
  const result: MovedMemories = { moved: 0, kept: [] }
  const stored = (table: 'memories' | 'memory_versions') =>
    trx.selectFrom(table).select(['namespace', 'key']).where('space', '=', space).where('project', '=', from)
  const places = await stored('memories').union(stored('memory_versions')).orderBy('namespace').orderBy('key').execute()
  for (const { namespace, key } of places) {
    const place = { space, namespace, key, project: from }
    const isTaken = await isStored(trx, { ...place, project: to })
    if (isTaken) result.kept.push(`${namespace}/${key}`)
    else await relocate(trx, place, to)
    if (!isTaken) result.moved++
  }
  return result
}

/**
 * Moves a memory with its versions to another project, or to none.
 *
 * @throws GazewayError `not_found`; `conflict` when that has the key already
 */
export async function moveMemory(trx: Transaction<Schema>, place: Place, project: string | null): Promise<void> {
  if (!(await isStored(trx, place)))
    throw new GazewayError('not_found', `There is no memory ${describePlace(place)}.`, { param: 'key' })
  const target = { ...place, project }
  if (await isStored(trx, target))
    throw new GazewayError('conflict', `There is a memory ${describePlace(target)} already. Delete one of them.`, {
      param: 'key',
    })
  await relocate(trx, place, project)
}

/** Tells whether a memory or an earlier version is kept at a place. */
async function isStored(trx: Transaction<Schema>, place: Place): Promise<boolean> {
  for (const table of ['memories', 'memory_versions'] as const)
    if (await trx.selectFrom(table).select('id').where(isAt(place)).limit(1).executeTakeFirst()) return true
  return false
}

async function relocate(trx: Transaction<Schema>, place: Place, project: string | null): Promise<void> {
  await trx.updateTable('memories').set({ project }).where(isAt(place)).execute()
  await trx.updateTable('memory_versions').set({ project }).where(isAt(place)).execute()
}
