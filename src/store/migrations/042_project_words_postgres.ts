import { type Kysely, sql } from 'kysely'
import type { Engine } from '../engine.ts'

/**
 * Adds an index of PostgreSQL with the words of each project apart, so that a search of one project reads no matches of
 * others, as migration 041 does on SQLite. It has a hash for each word, which takes less than half the space: memories whose
 * words only share a hash are ranked by their words, and found not to match.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine === 'sqlite') return
  // A plus sign stands before words of key and tags. The cost keeps the planner from calling it for rows, and it is not marked
  // as safe in parallel: starting workers takes longer than a search.
  await sql`create function memory_word_hashes(project text, key_text text, tags_text text, also_text text, value_text text)
    returns bigint[] language sql immutable cost 500 as $$
    select array(
      select hashtextextended(coalesce(project, '') || ' +' || word, 0)
        from unnest(string_to_array(key_text || ' ' || tags_text, ' ')) as named (word) where word <> ''
      union all
      select hashtextextended(coalesce(project, '') || ' ' || word, 0)
        from unnest(string_to_array(key_text || ' ' || tags_text || ' ' || also_text || ' ' || value_text, ' ')) as said (word)
        where word <> ''
    )
  $$`.execute(db)
  // Searches read the whole list of what is pending.
  await sql`create index memories_project_words on memories
    using gin (memory_word_hashes(project, key_text, tags_text, also_text, value_text))
    with (gin_pending_list_limit = 64)`.execute(db)
}
