import { type Selectable, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemoryVersionRow } from '../../store/tables/memory-tables.ts'
import { type CountChanges, createCountChanges } from './count-changes.ts'
import { deleteMemories, REMOVED, takeOut } from './memory-expiry.ts'
import { hasTag, isAt, type Place } from './memory-place.ts'
import { type MemoryInput, OF_SESSION } from './memory-record.ts'
import { forgetVersions } from './memory-versions.ts'
import { keepCounted } from './store-memory.ts'

/** Most memories that a session stores by itself (`memory.capture`). */
const MOST = 10

/**
 * Checks the number of captured memories of a session, by their tags `captured` and `session:ID`, once one is stored. The
 * number is exact: memories with a tag share the count of its words, so parallel stores wait for each other from there on.
 *
 * @throws GazewayError `validation_failed` for more than ten
 */
export async function limitCaptured(
  trx: Transaction<Schema>,
  space: number,
  { tags = [] }: Pick<MemoryInput, 'tags'>,
): Promise<void> {
  const session = tags.find((tag) => tag.startsWith(OF_SESSION))
  if (session === undefined || !tags.includes('captured')) return
  const captured = await trx
    .selectFrom('memory_tags as of_session')
    .innerJoin('memory_tags as mark', 'mark.seq', 'of_session.seq')
    .select('of_session.seq')
    .where('of_session.space', '=', space)
    .where('of_session.tag', '=', session)
    .where('mark.tag', '=', 'captured')
    .limit(MOST + 1)
    .execute()
  if (captured.length <= MOST) return
  throw new GazewayError(
    'validation_failed',
    `tags: this session has stored ${MOST} memories by itself, the most. Update or supersede one of them, or store no more.`,
    { param: 'tags' },
  )
}

/** Memories that a session may have stored: those of a namespace, or of all, and of some projects; null is none. */
export interface SessionScope {
  space: number
  /** Tag of the session: `session:ID`. */
  tag: string
  namespace?: string | undefined
  projects: ReadonlyArray<string | null>
}

/** Number of memories that the session alone had stored, and of the others that it had changed. */
export interface TakenBack {
  deleted: number
  others: number
}

/**
 * Takes back what a session stored by itself: each version with its tag is deleted. A memory of before is as it was: its value
 * and labels, its times and its id, and also found again where the session superseded it. Its version is a higher one.
 *
 * A memory stays superseded where one that is left superseded it, because nothing says in which of its versions it did.
 *
 * @param now RFC 3339 UTC
 */
export async function takeBack(trx: Transaction<Schema>, of: SessionScope, now: string): Promise<TakenBack> {
  const places = new Map<string, Place>()
  const add = (found: readonly Place[]) => {
    for (const { space, namespace, key, project } of found)
      places.set(JSON.stringify([namespace, key, project]), { space, namespace, key, project })
  }
  add(await placesOf(trx, of))
  // While what the session stored is still there: its memories may have superseded each other.
  for (const place of [...places.values()]) add(await passOn(trx, place, of.tag))
  const changes = createCountChanges()
  const taken = { deleted: 0, others: 0 }
  for (const place of places.values()) {
    const isLeft = await takeBackAt(trx, place, { tag: of.tag, now, changes })
    taken[isLeft ? 'others' : 'deleted']++
  }
  await changes.write(trx)
  return taken
}

/** Finds where a session stored something, also what is superseded. */
async function placesOf(trx: Transaction<Schema>, { space, tag, namespace, projects }: SessionScope): Promise<Place[]> {
  const stored = (table: 'memories' | 'memory_versions') => {
    const tagged = trx
      .selectFrom(table)
      .select(['space', 'namespace', 'key', 'project'])
      .where('space', '=', space)
      .where(hasTag(tag))
      .where(
        sql<string>`coalesce(project, '')`,
        'in',
        projects.map((project) => project ?? ''),
      )
    return namespace === undefined ? tagged : tagged.where('namespace', '=', namespace)
  }
  return stored('memories').union(stored('memory_versions')).orderBy('namespace').orderBy('key').execute()
}

/**
 * Passes on what a memory had superseded that will be gone: to the one that superseded it in turn, or to none.
 *
 * @returns places of what it had superseded
 */
async function passOn(trx: Transaction<Schema>, place: Place, tag: string): Promise<Place[]> {
  const { live, versions, before } = await historyAt(trx, place, tag)
  if (before !== undefined || (live && !live.isOfSession)) return []
  return trx
    .updateTable('memory_versions')
    .set({ superseded_by: supersederIn(versions) })
    .where('space', '=', place.space)
    .where('namespace', '=', place.namespace)
    .where(sql<boolean>`coalesce(project, '') = ${place.project ?? ''}`)
    .where('superseded_by', '=', place.key)
    .returning(['space', 'namespace', 'key', 'project'])
    .execute()
}

/** Takes back what a session stored at one place. @returns true when something is left there */
async function takeBackAt(
  trx: Transaction<Schema>,
  place: Place,
  { tag, now, changes }: { tag: string; now: string; changes: CountChanges },
): Promise<boolean> {
  const { live, versions, before } = await historyAt(trx, place, tag)
  if (!live || live.isOfSession) {
    if (!before || (before.expires_at !== null && before.expires_at <= now)) {
      await deleteMemories(trx, live ? [live] : [], changes)
      await forgetVersions(trx, [place])
      return false
    }
    const superseded_by = supersederIn(versions.slice(0, versions.indexOf(before) + 1))
    if (superseded_by === null) await restore(trx, before, { version: live?.version ?? 0, changes })
    else {
      await takeOut(trx, live ? [live] : [], changes)
      const marked = trx.updateTable('memory_versions').set({ superseded_by }).where(isAt(place))
      await marked.where('version', '=', before.version).execute()
    }
  }
  await trx.deleteFrom('memory_versions').where(isAt(place)).where(hasTag(tag)).execute()
  return true
}

/** Reads a place: its memory, which is locked, its earlier versions, the latest first, and the latest not of the session. */
async function historyAt(trx: Transaction<Schema>, place: Place, tag: string) {
  const isOfSession = ({ tags }: { tags: string }): boolean => JSON.parse(tags).includes(tag)
  const stored = trx.selectFrom('memories').select([...REMOVED, 'version', 'tags'])
  const live = await stored.where(isAt(place)).forUpdate().executeTakeFirst()
  const kept = trx.selectFrom('memory_versions').selectAll().where(isAt(place))
  const versions = await kept.orderBy('version', 'desc').execute()
  const before = versions.find((version) => !isOfSession(version))
  return { live: live && { ...live, isOfSession: isOfSession(live) }, versions, before }
}

/** Key of the memory that superseded one of these versions last; null for none. */
const supersederIn = (versions: ReadonlyArray<Pick<MemoryVersionRow, 'superseded_by'>>): string | null =>
  versions.find(({ superseded_by }) => superseded_by !== null)?.superseded_by ?? null

/** Stores a version again, as of its time. @param version of the memory that it replaces; 0 for none */
async function restore(
  trx: Transaction<Schema>,
  { space, namespace, key, project, ...before }: Selectable<MemoryVersionRow>,
  { version, changes }: { version: number; changes: CountChanges },
): Promise<void> {
  const { value, tags, also, written_by, updated_at, expires_at } = before
  const ttl = expires_at === null ? undefined : (Date.parse(expires_at) - Date.parse(updated_at)) / 1000
  const labels = { tags: JSON.parse(tags), also: JSON.parse(also), ttl_seconds: ttl }
  const input = { namespace, key, project, value: JSON.parse(value), ...labels, if_version: version }
  await keepCounted(trx, { space, input, now: updated_at, caller: { id: written_by, trusts: [] }, changes })
}
