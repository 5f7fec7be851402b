import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Batch } from './text-matcher.ts'

/**
 * Tells whether SQLite's index of the words of each project has all memories. Those from before the index are added in
 * batches; once all are there, all stay there.
 */
export async function hasAllProjectWords(db: Kysely<Schema>): Promise<boolean> {
  return (await lastMissing(db)) === undefined
}

/** Adds memories from before the index to it, the newest first: see `TextMatcher.addMissing`. */
export async function addProjectWords(trx: Transaction<Schema>, most: Batch): Promise<number> {
  const last = await lastMissing(trx)
  if (last === undefined) return 0
  const missing = await trx
    .selectFrom('memories')
    .select(['seq', 'words'])
    .where('seq', '<=', last)
    .orderBy('seq', 'desc')
    .limit(most.memories)
    .execute()
  const batch = upTo(most.words, missing)
  const first = batch.at(-1)?.seq ?? 0
  // In order: the index writes its words to the file whenever a number is lower than the one before.
  await sql`insert into memories_project_text (rowid, named, said, namespace)
    select seq, named, said, namespace from memories_project_words
    where seq between ${first} and ${last} order by seq`.execute(trx)
  const isLast = missing.length < most.memories && batch.length === missing.length
  if (isLast) await sql`delete from memories_project_backlog`.execute(trx)
  else await sql`update memories_project_backlog set last = ${first - 1}`.execute(trx)
  return isLast ? batch.length : most.memories
}

/** Takes the first memories, at least one, that together have at most so many words. */
function upTo<M extends { words: number }>(most: number, memories: readonly M[]): M[] {
  let words = 0
  return memories.filter((memory, i) => {
    words += memory.words
    return i === 0 || words <= most
  })
}

/** Number of the newest memory that is missing in the index; undefined when none is. */
async function lastMissing(db: Kysely<Schema>): Promise<number | undefined> {
  const { rows } = await sql<{ last: number }>`select last from memories_project_backlog where last > 0`.execute(db)
  return rows[0]?.last
}
