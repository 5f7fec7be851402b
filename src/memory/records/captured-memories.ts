import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import { removeMemory } from './forget-memory.ts'
import { isAt } from './memory-place.ts'
import type { Memory, MemoryInput } from './memory-record.ts'
import { keepMemory } from './store-memory.ts'

/** Beginning of the tag that names the session of a captured memory. */
export const OF_SESSION = 'session:'
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

/**
 * Takes back what a session stored by itself under a key: deletes the memory, or where it was there before the session, puts
 * its last version of before in its place.
 *
 * @param of.tag tag of the session, which the memory has
 * @param of.now RFC 3339 UTC
 * @returns true when the memory of before is back; false when it was deleted
 */
export async function takeBack(
  trx: Transaction<Schema>,
  { id, key, namespace, project }: Pick<Memory, 'id' | 'key' | 'namespace' | 'project'>,
  { space, tag, now }: { space: number; tag: string; now: string },
): Promise<boolean> {
  const kept = trx.selectFrom('memory_versions').selectAll().where(isAt({ space, namespace, key, project }))
  const versions = await kept.orderBy('version', 'desc').execute()
  const isOfSession = ({ tags }: { tags: string }) => JSON.parse(tags).includes(tag)
  const before = versions.find((version) => !isOfSession(version))
  if (!before || (before.expires_at !== null && before.expires_at <= now)) {
    await removeMemory(trx, id, { space, now })
    return false
  }
  const { value, tags, also, expires_at } = before
  const ttl = expires_at === null ? undefined : Math.ceil((Date.parse(expires_at) - Date.parse(now)) / 1000)
  const labels = { tags: JSON.parse(tags), also: JSON.parse(also) }
  const input = { key, namespace, project, value: JSON.parse(value), ...labels, ttl_seconds: ttl }
  const { memory } = await keepMemory(trx, space, input, now, { id: before.written_by, trusts: [] })
  const ofSession = [memory.version - 1, ...versions.filter(isOfSession).map(({ version }) => version)]
  await trx
    .deleteFrom('memory_versions')
    .where(isAt({ space, namespace, key, project }))
    .where('version', 'in', ofSession)
    .execute()
  return true
}

/** Deletes the versions of memories that a session stored by itself, and that another memory has superseded since. */
export async function forgetSuperseded(
  trx: Transaction<Schema>,
  { space, tag }: { space: number; tag: string },
): Promise<void> {
  const superseded = await trx
    .selectFrom('memory_versions')
    .select(['id', 'version', 'tags'])
    .where('space', '=', space)
    .where('superseded_by', 'is not', null)
    .where('tags', 'like', '%"session:%')
    .execute()
  for (const { id, version, tags } of superseded)
    if (JSON.parse(tags).includes(tag))
      await trx.deleteFrom('memory_versions').where('id', '=', id).where('version', '=', version).execute()
}
