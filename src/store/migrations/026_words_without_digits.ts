import { type Kysely, sql } from 'kysely'
import type { Engine } from '../columns.ts'

/**
 * PostgreSQL's vocabulary, which only grows, holds the words of the language alone: ids, hashes and times of memories that
 * are long gone made it as large as all that was ever written.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine !== 'postgres') return
  await sql`delete from memory_terms where term ~ '[0-9]'`.execute(db)
  await sql`create or replace function memory_words_kept() returns trigger language plpgsql as $$
    begin
      new.words := memory_words(new.key_text, 'A') || memory_words(new.tags_text, 'B') || memory_words(new.value_text, 'D');
      insert into memory_terms (term)
        select lexeme collate "C" from unnest(new.words) where length(lexeme) > 2 and lexeme !~ '[0-9]' order by 1
        on conflict do nothing;
      return new;
    end
  $$`.execute(db)
}
