import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Memories with their full-text index, and call records with their hourly rollups. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await createMemories(db, engine)
  await sql`create table calls (
    call_id ${text} primary key,
    at ${time} not null,
    surface ${text} not null,
    caller_id ${text},
    path ${text} not null,
    requested_model ${text},
    model ${text},
    upstream ${text} not null,
    stream ${integer} not null,
    status ${text} not null,
    http_status ${integer},
    fallback_from ${text},
    latency_ms ${integer} not null,
    latency_bucket ${integer} not null,
    first_token_ms ${integer},
    prompt_tokens ${integer},
    completion_tokens ${integer},
    total_tokens ${integer},
    usage_estimated ${integer} not null,
    upstream_cost_micros ${integer} not null,
    error ${text},
    content ${text}
  )`.execute(db)
  await sql`create index calls_at on calls (at, call_id)`.execute(db)
  for (const column of ['status', 'model', 'path', 'caller_id'])
    await sql`create index ${sql.ref(`calls_${column}`)} on calls (${sql.ref(column)}, at, call_id)`.execute(db)

  await sql`create table call_rollups (
    hour ${time} not null,
    model ${text} not null,
    caller_id ${text} not null,
    path ${text} not null,
    status ${text} not null,
    latency_bucket ${integer} not null,
    calls ${integer} not null,
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    primary key (hour, model, caller_id, path, status, latency_bucket)
  )`.execute(db)
  await sql`create table call_totals (
    model ${text} not null,
    caller_id ${text} not null,
    path ${text} not null,
    status ${text} not null,
    calls ${integer} not null,
    primary key (model, caller_id, path, status)
  )`.execute(db)
}

/**
 * Memories by whose they are (space 0 is the operator's, `memory_spaces` numbers those of keys), their tags in the order of
 * the newest-first list, and running totals for each namespace. `value` and `tags`
 * are plain text although they hold JSON: a value comes back exactly as it was stored (key order, numbers, \u0000).
 */
async function createMemories(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, sequence, text } = columns(engine)
  await sql`create table memory_spaces (
    space ${sequence},
    key_id ${text} not null unique,
    ends_at ${time}
  )`.execute(db)
  await sql`create index memory_spaces_end on memory_spaces (ends_at) where ends_at is not null`.execute(db)
  await sql`create table memories (
    seq ${sequence},
    id ${text} not null unique,
    space ${integer} not null,
    project ${text},
    namespace ${text} not null,
    key ${text} not null,
    value ${text} not null,
    tags ${text} not null,
    bytes ${integer} not null,
    version ${integer} not null,
    created_at ${time} not null,
    updated_at ${time} not null,
    expires_at ${time},
    key_text ${text} not null,
    value_text ${text} not null,
    tags_text ${text} not null,
    unique (space, namespace, key)
  )`.execute(db)
  await sql`create index memories_in_space on memories (space, seq)`.execute(db)
  await sql`create index memories_recent on memories (space, updated_at, seq)`.execute(db)
  await sql`create index memories_recent_in_namespace on memories (space, namespace, updated_at, seq)`.execute(db)
  await sql`create index memories_recent_in_project on memories (space, project, updated_at, seq)`.execute(db)
  await sql`create index memories_expiry on memories (expires_at) where expires_at is not null`.execute(db)
  await sql`create index memories_expiry_in_namespace on memories (space, namespace, expires_at)
    where expires_at is not null`.execute(db)
  await sql`create table memory_tags (
    seq ${integer} not null,
    tag ${text} not null,
    space ${integer} not null,
    namespace ${text} not null,
    updated_at ${time} not null,
    primary key (seq, tag)
  )`.execute(db)
  await sql`create index memory_tags_recent on memory_tags (space, tag, updated_at, seq, namespace)`.execute(db)
  await sql`create table memory_totals (
    space ${integer} not null,
    namespace ${text} not null,
    shard ${integer} not null,
    memories ${integer} not null,
    bytes ${integer} not null,
    primary key (space, namespace, shard)
  )`.execute(db)
  await (engine === 'sqlite' ? fullTextOnSqlite(db, 'unicode61 remove_diacritics 2') : fullTextOnPostgres(db))
}

/**
 * The words of each memory with their weights (A key, B tags, D value), and the vocabulary of all memories, which only
 * grows; a trigger keeps both in step. The texts are words with single spaces between, so that no parser, dictionary or
 * extension of the server decides what a word is. Positions start over at 15,000, below the 16,383 that a tsvector can
 * tell apart: neighbours stay neighbours in longer texts.
 */
async function fullTextOnPostgres(db: Kysely<unknown>): Promise<void> {
  await sql`alter table memories add column words tsvector`.execute(db)
  await sql`create index memories_words on memories using gin (words)`.execute(db)
  await sql`create table memory_terms (term text collate "C" not null primary key)`.execute(db)
  await sql`create function memory_words(words text, weight text) returns tsvector language sql immutable as $$
    select coalesce(string_agg(quote_literal(left(word, 500)) || ':' || (1 + (place - 1) % 15000) || weight, ' '), '')::tsvector
    from unnest(string_to_array(words, ' ')) with ordinality as split (word, place) where word <> ''
  $$`.execute(db)
  await sql`create function memory_words_kept() returns trigger language plpgsql as $$
    begin
      new.words := memory_words(new.key_text, 'A') || memory_words(new.tags_text, 'B') || memory_words(new.value_text, 'D');
      insert into memory_terms (term)
        select lexeme collate "C" from unnest(new.words) where length(lexeme) > 2 order by 1
        on conflict do nothing;
      return new;
    end
  $$`.execute(db)
  await sql`create trigger memory_words_kept before insert or update of key_text, value_text, tags_text on memories
    for each row execute function memory_words_kept()`.execute(db)
}

/** An FTS5 index over the memories' own text; triggers keep it in step within the same statement. */
export async function fullTextOnSqlite(db: Kysely<unknown>, tokenizer: string): Promise<void> {
  await sql`create virtual table memories_text using fts5(
    key_text, value_text, tags_text, namespace, content='memories', content_rowid='seq',
    tokenize=${sql.lit(tokenizer)}, prefix='2 3 4'
  )`.execute(db)
  await sql`create virtual table memories_terms using fts5vocab(memories_text, 'row')`.execute(db)
  const remove = sql`insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, namespace)
    values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.namespace)`
  const add = sql`insert into memories_text (rowid, key_text, value_text, tags_text, namespace)
    values (new.seq, new.key_text, new.value_text, new.tags_text, new.namespace)`
  await sql`create trigger memories_text_added after insert on memories begin ${add}; end`.execute(db)
  await sql`create trigger memories_text_removed after delete on memories begin ${remove}; end`.execute(db)
  await sql`create trigger memories_text_changed after update of namespace, key_text, value_text, tags_text on memories
    begin ${remove}; ${add}; end`.execute(db)
}
