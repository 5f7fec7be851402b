import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemoryInput } from './memory-record.ts'

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
  const session = tags.find((tag) => tag.startsWith('session:'))
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
