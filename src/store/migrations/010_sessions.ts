import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Chat sessions, their messages, the totals of each user, and the words that sessions are found by. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, real, sequence, text } = columns(engine)
  await sql`create table sessions (
    id ${text} not null primary key,
    user_id ${text} not null,
    source ${text} not null,
    title ${text},
    model ${text},
    started_at ${time} not null,
    last_active_at ${time} not null,
    ended_at ${time},
    end_reason ${text},
    parent_session_id ${text},
    message_count ${integer} not null,
    tool_call_count ${integer} not null,
    input_tokens ${integer} not null,
    output_tokens ${integer} not null,
    cost_micros ${integer} not null,
    preview ${text} not null
  )`.execute(db)
  await sql`create index sessions_recent on sessions (last_active_at, id)`.execute(db)
  await sql`create index sessions_recent_of_user on sessions (user_id, last_active_at, id)`.execute(db)
  await sql`create index sessions_recent_of_source on sessions (source, last_active_at, id)`.execute(db)
  await sql`create index sessions_recent_of_both on sessions (user_id, source, last_active_at, id)`.execute(db)

  await sql`create table session_messages (
    session_id ${text} not null,
    position ${integer} not null,
    id ${text} not null,
    role ${text} not null,
    name ${text},
    content ${text} not null,
    at ${time} not null,
    tensor ${text},
    poa_score ${real},
    token_count ${integer} not null,
    call_id ${text},
    primary key (session_id, position)
  )`.execute(db)

  await sql`create table session_texts (
    seq ${sequence},
    session_id ${text} not null,
    user_id ${text} not null,
    position ${integer} not null,
    words_text ${text} not null
  )`.execute(db)
  await sql`create index session_texts_of_session on session_texts (session_id, position)`.execute(db)
  await sql`create table session_totals (
    user_id ${text} not null,
    source ${text} not null,
    sessions ${integer} not null,
    primary key (user_id, source)
  )`.execute(db)
  await (engine === 'sqlite' ? wordsOnSqlite(db, 'unicode61 remove_diacritics 2') : wordsOnPostgres(db))
}

/** An FTS5 index over the words; triggers keep it in step within the same statement. */
export async function wordsOnSqlite(db: Kysely<unknown>, tokenizer: string): Promise<void> {
  await sql`create virtual table session_words using fts5(
    words_text, user_id, content='session_texts', content_rowid='seq',
    tokenize=${sql.lit(tokenizer)}, prefix='2 3 4'
  )`.execute(db)
  const remove = sql`insert into session_words (session_words, rowid, words_text, user_id)
    values ('delete', old.seq, old.words_text, old.user_id)`
  const add = sql`insert into session_words (rowid, words_text, user_id)
    values (new.seq, new.words_text, new.user_id)`
  await sql`create trigger session_words_added after insert on session_texts begin ${add}; end`.execute(db)
  await sql`create trigger session_words_removed after delete on session_texts begin ${remove}; end`.execute(db)
  await sql`create trigger session_words_changed after update of words_text on session_texts
    begin ${remove}; ${add}; end`.execute(db)
}

/** The words as lexemes, split at spaces alone, so that no parser or dictionary of the server decides what a word is. */
async function wordsOnPostgres(db: Kysely<unknown>): Promise<void> {
  await sql`alter table session_texts add column words tsvector`.execute(db)
  await sql`create index session_texts_words on session_texts using gin (words)`.execute(db)
  await sql`create function session_words_kept() returns trigger language plpgsql as $$
    begin
      new.words := array_to_tsvector(string_to_array(nullif(new.words_text, ''), ' '));
      return new;
    end
  $$`.execute(db)
  await sql`create trigger session_words_kept before insert or update of words_text on session_texts
    for each row execute function session_words_kept()`.execute(db)
}
