import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type Columns, columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/**
 * All tables, by the room that owns them. Columns without a comment say what they hold by their names:
 * - `id` is the id in the API, `at` and `*_at` are times, `*_ms` milliseconds, `*_micros` micro-dollars;
 * - `caller_id` is the id of the key or wallet that a row belongs to, null for tools on this machine;
 * - `bytes`, `calls`, `records` and the like are counts.
 *
 * Nothing refers to another table by a foreign key: rows are pruned, and tables copied, one by one.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const types = columns(engine)
  const rooms = [
    store,
    identity,
    idempotency,
    calls,
    wallet,
    alerts,
    memory,
    gaze,
    sessions,
    conversations,
    chain,
    payments,
    escrow,
    tasks,
  ]
  for (const room of [...rooms, connections]) for (const statement of room(types, engine)) await statement.execute(db)
}

type Statements = RawBuilder<unknown>[]

/** Clustered tables store rows in their primary key: one page less to write per row. */
const clustered = (engine: Engine) => ({ sqlite: sql`without rowid`, postgres: sql`` })[engine]

/** Sweeps and settings shared by the processes on one store. */
const store = ({ json, time, integer, text }: Columns): Statements => [
  // A recurring chore. The process that advances `next_at` runs it.
  sql`create table sweeps (
    name ${text} not null primary key,
    next_at ${time} not null
  )`,

  // A setting that takes precedence over the config.json of every machine.
  sql`create table settings (
    path ${text} not null primary key, -- dotted configuration key; of a record, all of it
    value ${json} not null,            -- null is the default, whatever config.json says
    updated_at ${time} not null
  )`,

  // One row. `revision` grows with each change of the settings; processes poll it.
  sql`create table settings_revision (
    id ${integer} not null primary key,
    revision ${integer} not null
  )`,
  sql`insert into settings_revision (id, revision) values (1, 0)`,
]

const identity = ({ json, time, integer, text }: Columns, engine: Engine): Statements => [
  // An API key.
  sql`create table keys (
    id ${text} not null primary key,
    name ${text} not null,
    hash ${text} not null,        -- SHA-256 of the whole token, hex
    scopes ${json} not null,
    group_id ${text},             -- whose budgets bind it too
    wallet ${text},               -- address whose balance the key shares
    billing ${text} not null,     -- recorded, cost or metered
    credit_limit_micros ${integer},
    requests_per_minute ${integer},
    tokens_per_minute ${integer},
    concurrent ${integer},        -- calls at a time
    models ${json},               -- globs of the models that it may ask; null is all
    first ${integer} unique,      -- 1 for the key made at the first start, else null: there is one at most
    created_at ${time} not null,
    expires_at ${time},
    last_used_at ${time},
    rotated_at ${time},
    previous_hash ${text},        -- of the token before the last rotation
    previous_until ${time},       -- when that token stops working
    revoked_at ${time}
  )`,
  sql`create index keys_revoked on keys (revoked_at) where revoked_at is not null`,
  sql`create index keys_expiry on keys (expires_at) where expires_at is not null`,
  sql`create index keys_wallet on keys (wallet) where wallet is not null`,
  sql`create index keys_of_group on keys (group_id) where group_id is not null and revoked_at is null`,

  // Spending limit of a key, or of all keys of a group, for one period.
  sql`create table budgets (
    owner ${text} not null,       -- id of the key or group
    per ${text} not null,         -- day, week, month or total
    micros ${integer} not null,
    primary key (owner, per)
  ) ${clustered(engine)}`,

  // Share of its budgets, in percent, at which a key or a group sends an alert.
  sql`create table alerts (
    owner ${text} not null,       -- id of the key or group
    percent ${integer} not null,
    primary key (owner, percent)
  ) ${clustered(engine)}`,

  // Keys that share budgets.
  sql`create table key_groups (
    id ${text} not null primary key,
    name ${text} not null unique,
    created_at ${time} not null
  )`,
]

const idempotency = ({ time, integer, text }: Columns): Statements => [
  // An idempotency key, and the reply that a repeated request gets.
  sql`create table idempotency_keys (
    scope ${text} not null,        -- the caller
    key ${text} not null,
    fingerprint ${text} not null,  -- SHA-256 of route and body
    attempt ${text} not null,      -- id of the run that owns the row
    in_flight_until ${time},       -- while it runs, then null
    status ${integer},             -- HTTP status of the reply
    headers ${text},               -- JSON, as it was
    body ${text},                  -- as it was; null where it is not kept
    expires_at ${time} not null,
    primary key (scope, key)
  )`,
  sql`create index idempotency_keys_expiry on idempotency_keys (expires_at)`,
]

/** Conversations of the tools, which can be continued. */
const conversations = ({ time, integer, text }: Columns): Statements => [
  sql`create table conversations (
    id ${text} not null primary key,
    owner ${text} not null,        -- id of a key; empty for the person whose machine it is
    turns ${integer} not null,
    bytes ${integer} not null,     -- of all messages, as JSON
    expires_at ${time} not null    -- 24 h after the last turn
  )`,
  sql`create index conversations_expiry on conversations (expires_at)`,

  // One question and its answer.
  sql`create table conversation_turns (
    conversation_id ${text} not null,
    turn ${integer} not null,      -- from 1
    messages ${text} not null,     -- JSON, a list of chat messages
    primary key (conversation_id, turn)
  )`,
]

/** The audit trail. */
const calls = ({ time, integer, text }: Columns, engine: Engine): Statements => [
  // A model call.
  sql`create table calls (
    call_id ${text} primary key,
    at ${time} not null,                    -- when it began
    surface ${text} not null,               -- stdio, http, platform or socket
    caller_id ${text},
    path ${text} not null,                  -- on the upstream
    requested_model ${text},
    model ${text},                          -- that the upstream was asked for
    upstream ${text} not null,
    stream ${integer} not null,             -- 0 or 1
    status ${text} not null,                -- ok, error, aborted or refused
    http_status ${integer},
    fallback_from ${text},                  -- id of the call whose failure led to this one
    latency_ms ${integer} not null,
    latency_bucket ${integer} not null,     -- see src/calls/latency-buckets.ts
    first_token_ms ${integer},
    prompt_tokens ${integer},               -- tokens are null where no usage is known
    completion_tokens ${integer},
    total_tokens ${integer},
    cached_tokens ${integer},               -- of the prompt, from the provider's cache; null for none
    cache_write_tokens ${integer},          -- of the prompt, put into that cache; null for none
    usage_estimated ${integer} not null,    -- 0 or 1
    upstream_cost_micros ${integer} not null,
    error ${text},
    content ${text}                         -- JSON; only where audit.store_content is set
  )`,
  sql`create index calls_at on calls (at, call_id)`,
  // Calls of one millisecond are sorted by id when they are read. Indexes without ids save a quarter of a call's space.
  sql`create index calls_status on calls (status, at)`,
  sql`create index calls_model on calls (model, at)`,
  sql`create index calls_path on calls (path, at)`,
  sql`create index calls_caller_id on calls (caller_id, at)`,
  sql`create index calls_fallback on calls (at) where fallback_from is not null`,

  // Calls of the newest hours, counted by all their dimensions, until they are folded into call_sums. Here and in the
  // tables below, an unknown model or caller is empty text.
  sql`create table call_rollups (
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
  )`,

  // Calls counted by hour or day. Statistics read these rows and stay correct after calls are pruned.
  sql`create table call_sums (
    level ${text} not null,      -- hour, or hour_of_all, day_of_all, day_of_caller, which leave dimensions empty
    start ${time} not null,      -- of the hour or day
    caller_id ${text} not null,
    model ${text} not null,
    path ${text} not null,
    status ${text} not null,
    calls ${integer} not null,
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    latencies ${text} not null,  -- JSON list of each latency bucket and its calls
    primary key (level, start, caller_id, model, path, status)
  ) ${clustered(engine)}`,
  sql`create index call_sums_of_caller on call_sums (level, caller_id, start)`,

  // Calls currently in the audit trail, by kind: the totals of lists.
  sql`create table call_totals (
    model ${text} not null,
    caller_id ${text} not null,
    path ${text} not null,
    status ${text} not null,
    calls ${integer} not null,
    primary key (model, caller_id, path, status)
  )`,

  // Ids that upstreams gave to objects of callers: responses, files, batches. A caller without a key is empty text.
  sql`create table upstream_objects (
    id ${text} not null,
    caller_id ${text} not null,
    upstream ${text} not null,
    at ${time} not null,
    primary key (id, caller_id)
  )`,
  sql`create index upstream_objects_at on upstream_objects (at)`,
]

/** The ledger and the calls that are paid by it. */
const wallet = ({ json, time, integer, text }: Columns, engine: Engine): Statements => [
  // An account of the double-entry ledger.
  sql`create table ledger_accounts (
    id ${text} not null primary key,     -- KIND:OWNER, or escrow:ESCROW
    kind ${text} not null,               -- see AccountKind
    owner ${text} not null,              -- id of the caller whose money it is
    balance_micros ${integer} not null,  -- below 0 by the credit used
    deposited_micros ${integer} not null, -- the part that comes from deposits; above a balance that credit has lowered
    transfers ${integer} not null,       -- in its hash chain
    head ${text} not null                -- hash of the last of them
  )`,
  sql`create index ledger_accounts_owner on ledger_accounts (owner)`,
  // Most escrow accounts stay empty: the locked money is summed over the others.
  sql`create index ledger_accounts_locked on ledger_accounts (kind, balance_micros)
    where kind in ('escrow', 'settling') and balance_micros > 0`,

  // A transfer: immutable, in the hash chain of its first account.
  sql`create table ledger_transfers (
    key ${text} not null unique,  -- idempotency key
    chain ${text} not null,       -- id of its first account
    position ${integer} not null, -- in the chain, from 1
    kind ${text} not null,        -- see TransferKind
    entries ${json} not null,     -- signed amounts by account; their sum is 0
    memo ${text},
    at ${time} not null,
    hash ${text} not null,        -- over all of this and the hash before
    primary key (chain, position)
  ) ${clustered(engine)}`,

  // A call that a key pays for: held during the upstream call, then captured (its receipt) or voided.
  sql`create table metered_calls (
    call_id ${text} not null primary key,
    caller_id ${text} not null,
    model ${text} not null,
    status ${text} not null,              -- held, captured or voided
    at ${time} not null,
    deadline ${time} not null,            -- a hold that is older is given back
    path ${text} not null,                -- endpoint that was asked: /api/wallet/metered/call or one below /v1
    counted_on ${text} not null,          -- UTC day of \`spending\` that it is counted on
    group_id ${text},                     -- group whose spending it counts as, too
    transfer ${text},                     -- key of the ledger transfer that took its money; null where none was
    held_micros ${integer} not null,      -- the worst case
    margin_micros ${integer} not null,
    upstream_cost_micros ${integer} not null,
    token ${text} not null,               -- what it is paid in
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    total_tokens ${integer} not null,
    usage_estimated ${integer} not null,  -- 0 or 1
    latency_ms ${integer} not null,
    upstream_call_id ${text},             -- of its record in calls
    idempotency_key ${text},              -- cleared with content once it has expired
    fingerprint ${text},                  -- SHA-256 of the request that the key stands for
    content ${text}                       -- the answer as JSON, for who repeats the request
  ) ${clustered(engine)}`,
  sql`create index receipts on metered_calls (at, call_id) where status = 'captured'`,
  sql`create index receipts_of_caller on metered_calls (caller_id, at, call_id) where status = 'captured'`,
  sql`create index holds on metered_calls (deadline) where status = 'held'`,
  sql`create unique index metered_calls_once on metered_calls (caller_id, idempotency_key)
    where idempotency_key is not null`,
  sql`create index metered_calls_kept on metered_calls (at) where idempotency_key is not null`,
  sql`create index metered_calls_counted on metered_calls (caller_id, counted_on)`,
  sql`create index metered_calls_of_group on metered_calls (group_id, counted_on) where group_id is not null`,
  sql`create index metered_calls_of_transfer on metered_calls (transfer) where transfer is not null`,

  // The sums of a caller's captured calls to one model on one UTC day.
  sql`create table metered_usage (
    caller_id ${text} not null,
    day ${text} not null,       -- 2026-11-21
    model ${text} not null,
    calls ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    margin_micros ${integer} not null,
    primary key (caller_id, day, model)
  ) ${clustered(engine)}`,

  // Spending of a key, a wallet or a group on one UTC day; in total for the day \`total\`. Budgets are compared with
  // it.
  sql`create table spending (
    owner ${text} not null,
    day ${text} not null,                 -- 2026-11-21, or total
    charged_micros ${integer} not null,   -- of charged calls, reserved ones too, and of escrows
    recorded_micros ${integer} not null,  -- of calls whose cost is recorded and not charged
    primary key (owner, day)
  ) ${clustered(engine)}`,

  // A part of a key's budgets, and of its money if its calls are charged, that one process spends in memory.
  sql`create table allowances (
    id ${text} not null primary key,
    holder ${text} not null,              -- the process
    key_id ${text} not null,
    group_id ${text},
    day ${text} not null,                 -- UTC day of the calls that it is for
    charged ${integer} not null,          -- 0, or 1 where \`micros\` of the ledger's held:KEY belong to it
    micros ${integer} not null,           -- reserved and not yet in \`spending\`
    turn ${integer} not null,             -- number of its last change by its holder
    granted ${integer} not null,          -- what that change added
    renewed_at ${time} not null           -- a process that is gone renews nothing: its allowances are given back
  )`,
  sql`create index allowances_of_key on allowances (key_id, day)`,
  sql`create index allowances_of_group on allowances (group_id, day) where group_id is not null`,
  sql`create index allowances_of_holder on allowances (holder)`,
  sql`create index allowances_renewed on allowances (renewed_at)`,
]

/** Messages to the operator's webhook. */
const alerts = ({ time, integer, text }: Columns): Statements => [
  // A message that a budget is used up to a share. One per budget, period and share.
  sql`create table alert_messages (
    id ${text} not null primary key,   -- its webhook-id
    owner ${text} not null,            -- id of the key or group
    per ${text} not null,
    period ${text} not null,           -- first UTC day of the period, or total
    percent ${integer} not null,
    body ${text} not null,             -- JSON, the same in each attempt
    created_at ${time} not null,
    next_at ${time},                   -- of the next attempt; null once it is delivered or given up
    attempts ${integer} not null,
    delivered_at ${time},
    error ${text},                     -- of the last attempt
    unique (owner, per, period, percent)
  )`,
  sql`create index alert_messages_due on alert_messages (next_at) where next_at is not null`,
  sql`create index alert_messages_done on alert_messages (created_at) where next_at is null`,
]

/** Memories with a full-text index. */
const memory = (types: Columns, engine: Engine): Statements => {
  const { time, integer, sequence, text } = types
  return [
    // The number of a key's own memories. Space 0 is the operator's, and has no row.
    sql`create table memory_spaces (
      space ${sequence},
      key_id ${text} not null unique,
      ends_at ${time}                  -- when the memories of a revoked key are deleted
    )`,
    sql`create index memory_spaces_end on memory_spaces (ends_at) where ends_at is not null`,

    sql`create table memories (
      seq ${sequence},
      id ${text} not null unique,
      space ${integer} not null,
      project ${text},                 -- folder that it belongs to; null for none
      namespace ${text} not null,
      key ${text} not null,
      tags ${text} not null,           -- JSON
      also ${text} not null,           -- JSON; words that others may ask with
      bytes ${integer} not null,       -- counted in memory_totals, as words is
      words ${integer} not null,       -- of the value
      embedded ${text} not null,       -- what its vector was made with; empty: it has none
      version ${integer} not null,
      created_at ${time} not null,
      updated_at ${time} not null,
      expires_at ${time},
      key_text ${text} not null,       -- words for the index; see src/memory/indexed-words.ts
      tags_text ${text} not null,
      also_text ${text} not null,
      -- Last: what stands after long values is looked for in all their pages.
      value ${text} not null,          -- JSON exactly as it was stored: key order, numbers, \\u0000
      value_text ${text} not null,
      unique (space, namespace, key)
    )`,
    sql`create index memories_in_space on memories (space, seq)`,
    sql`create index memories_recent on memories (space, updated_at, seq)`,
    sql`create index memories_recent_in_namespace on memories (space, namespace, updated_at, seq)`,
    sql`create index memories_recent_in_project on memories (space, project, updated_at, seq)`,
    sql`create index memories_embedded on memories (embedded, seq)`,
    sql`create index memories_expiry on memories (expires_at) where expires_at is not null`,
    sql`create index memories_expiry_in_namespace on memories (space, namespace, expires_at)
      where expires_at is not null`,

    // A tag of a memory, with the columns that lists of a tag are sorted and filtered by.
    sql`create table memory_tags (
      seq ${integer} not null,         -- of the memory
      tag ${text} not null,
      space ${integer} not null,
      namespace ${text} not null,
      updated_at ${time} not null,
      primary key (seq, tag)
    )`,
    sql`create index memory_tags_recent on memory_tags (space, tag, updated_at, seq, namespace)`,

    // Earlier versions: replaced by the next version of their key, or superseded by the memory of another key.
    sql`create table memory_versions (
      space ${integer} not null,
      namespace ${text} not null,
      key ${text} not null,
      version ${integer} not null,
      id ${text} not null,
      project ${text},
      tags ${text} not null,
      also ${text} not null,
      created_at ${time} not null,
      updated_at ${time} not null,
      expires_at ${time},
      superseded_by ${text},           -- key
      value ${text} not null,
      primary key (space, namespace, key, version)
    )`,
    sql`create index memory_versions_of_memory on memory_versions (id)`,
    sql`create index memory_versions_expiry on memory_versions (expires_at) where expires_at is not null`,

    // Totals of a namespace, including expired memories until they are swept. Writers pick a shard. The rows of a
    // namespace are summed; a single row may be negative.
    sql`create table memory_totals (
      space ${integer} not null,
      namespace ${text} not null,
      shard ${integer} not null,
      memories ${integer} not null,
      bytes ${integer} not null,
      words ${integer} not null,
      primary key (space, namespace, shard)
    )`,

    // Vectors of memories, in order of creation: a cache of them reads only the newer ones.
    sql`create table memory_vectors (
      place ${sequence},
      seq ${integer} not null unique,  -- of the memory
      space ${integer} not null,
      source ${text} not null,         -- upstream, model, prefix and length
      signs ${text} not null,          -- base64; see src/memory/quantized.ts
      vector ${text} not null
    )`,
    sql`create index memory_vectors_of_source on memory_vectors (space, source, place)`,

    // The words of a space, and the number of memories that hold each. Expired memories count until they are swept.
    sql`create table memory_words (
      space ${integer} not null,
      word ${text} not null,
      stem ${text} not null,           -- which words that inflect alike share
      ending ${text} not null,         -- the word backwards; empty where nobody looks for words by how they end
      memories ${integer} not null,
      primary key (space, word)
    )`,
    sql`create index memory_words_stems on memory_words (space, stem)`,
    sql`create index memory_words_endings on memory_words (space, ending) where ending <> ''`,
    ...{ sqlite: memoryWordsOnSqlite, postgres: memoryWordsOnPostgres }[engine],
  ]
}

/**
 * FTS5 indexes that split only at the spaces between our words, for every SQLite release. Triggers update them within
 * the same statement.
 */
const memoryWordsOnSqlite: Statements = [
  sql`create virtual table memories_text using fts5(
    key_text, value_text, tags_text, also_text, namespace, content='memories', content_rowid='seq', tokenize='ascii'
  )`,
  sql`create trigger memories_text_added after insert on memories begin
    insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
      values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
  end`,
  sql`create trigger memories_text_removed after delete on memories begin
    insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
      values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
  end`,
  sql`create trigger memories_text_changed after update of namespace, key_text, value_text, tags_text, also_text
    on memories begin
    insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
      values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
    insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
      values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
  end`,
]

/**
 * Words with weights: A key, B tags, C also, D value. No parser, dictionary or extension of the server is used to split
 * words.
 */
const memoryWordsOnPostgres: Statements = [
  sql`alter table memories add column lexemes tsvector`,
  sql`create index memories_lexemes on memories using gin (lexemes)`,
  sql`create function memory_lexemes(words text, place text) returns tsvector language sql immutable as $$
    select coalesce(string_agg(distinct quote_literal(word) || ':1' || place, ' '), '')::tsvector
    from unnest(string_to_array(words, ' ')) as split (word) where word <> ''
  $$`,
  sql`create function memory_lexemes_kept() returns trigger language plpgsql as $$
    begin
      new.lexemes := memory_lexemes(new.key_text, 'A') || memory_lexemes(new.tags_text, 'B')
        || memory_lexemes(new.also_text, 'C') || memory_lexemes(new.value_text, 'D');
      return new;
    end
  $$`,
  sql`create trigger memory_lexemes_kept before insert or update of key_text, value_text, tags_text, also_text on memories
    for each row execute function memory_lexemes_kept()`,
]

/** Gaze records, and the attestations they support. */
const gaze = ({ json, time, integer, real, text }: Columns): Statements => [
  sql`create table gaze_sessions (
    session_id ${text} primary key,
    task_id ${text},
    caller_id ${text},
    records ${integer} not null,    -- that it ever had
    pruned ${integer} not null,     -- of them, how many are deleted
    chain_head ${text} not null,    -- hash of the last record
    last_place ${text},             -- path and lines of the last record
    created_at ${time} not null,
    updated_at ${time} not null
  )`,
  sql`create index gaze_sessions_updated on gaze_sessions (updated_at, session_id)`,
  sql`create index gaze_sessions_caller_updated on gaze_sessions (caller_id, updated_at, session_id)
    where caller_id is not null`,
  sql`create index gaze_sessions_task on gaze_sessions (task_id, updated_at) where task_id is not null`,

  sql`create table gaze_records (
    id ${text} primary key,
    session_id ${text} not null,
    seq ${integer} not null,          -- in the session, from 1
    task_id ${text},
    caller_id ${text},                -- its session's
    at ${time} not null,              -- when it began, by the client's clock
    stored_at ${time} not null,
    dwell_ms ${integer} not null,
    source ${text} not null,
    confidence ${real},               -- null where the source states none
    x ${real},                        -- these and path repeat what of the tensor is searched and scored
    y ${real},
    path ${text},
    tensor ${json} not null,          -- the whole record
    hash ${text} not null,            -- over it and the hash before, in the session's chain
    content_hash ${text} not null,    -- of the record alone
    shape_hash ${text},               -- of it and those before it, without their times; null where too few come before
    tick ${integer},                  -- Unix ms by which it is assessed; null for a raw sample beside another one
    copied ${integer} not null,       -- 1 when another session had its content, shape or trace before
    unique (session_id, at, source),
    unique (session_id, seq)
  )`,
  sql`create index gaze_records_at on gaze_records (at, id)`,
  sql`create index gaze_records_path on gaze_records (path, at, id) where path is not null`,
  sql`create index gaze_records_source on gaze_records (source, at, id)`,
  sql`create index gaze_records_tick on gaze_records (session_id, tick) where tick is not null`,
  sql`create index gaze_records_caller on gaze_records (caller_id, at, id) where caller_id is not null`,
  sql`create index gaze_records_caller_path on gaze_records (caller_id, path, at, id) where caller_id is not null`,
  sql`create index gaze_records_caller_source on gaze_records (caller_id, source, at, id)
    where caller_id is not null`,

  // The content or shape of a record, and the session that stored it first.
  sql`create table gaze_prints (
    hash ${text} not null primary key,
    session_id ${text} not null
  )`,

  // A trace of fixations, and the session that stored it first.
  sql`create table gaze_traces (
    hash ${text} not null primary key,
    session_id ${text} not null,
    at ${time} not null,              -- when it began
    steps ${json} not null
  )`,
  sql`create index gaze_traces_at on gaze_traces (at)`,

  // Attention by hour and place.
  sql`create table gaze_dwell (
    hour ${time} not null,
    path ${text} not null,
    line_start ${integer} not null,   -- lines are 0 where the records name none
    line_end ${integer} not null,
    dwell_ms ${integer} not null,
    visits ${integer} not null,
    last_seen_at ${time} not null,
    primary key (hour, path, line_start, line_end)
  )`,

  sql`create table attestations (
    id ${text} primary key,
    session_id ${text} not null,
    task_id ${text},
    status ${text} not null,          -- collecting, passed or failed
    poa_score ${real} not null,       -- proof of attention, 0 to 1
    issued_at ${time} not null,
    expires_at ${time} not null,
    body ${json} not null             -- all of it
  )`,
  sql`create index attestations_of_session on attestations (session_id, issued_at, id)`,

  // Use of an attestation, at most once.
  sql`create table attestation_uses (
    attestation_id ${text} not null primary key,
    session_id ${text},
    records ${integer},               -- of the session, from its first, that are used up with it
    used_by ${text} not null,
    used_at ${time} not null
  )`,
  sql`create index attestation_uses_of_session on attestation_uses (session_id, records)`,
]

/** Chats with a full-text index. */
const sessions = (types: Columns, engine: Engine): Statements => {
  const { time, integer, real, sequence, text } = types
  return [
    sql`create table sessions (
      id ${text} not null primary key,
      user_id ${text} not null,
      source ${text} not null,
      title ${text},
      model ${text},                    -- null where the configured chat model answers
      started_at ${time} not null,
      last_active_at ${time} not null,
      ended_at ${time},
      end_reason ${text},
      parent_session_id ${text},        -- that it goes on from
      message_count ${integer} not null,
      tool_call_count ${integer} not null,
      input_tokens ${integer} not null,
      output_tokens ${integer} not null,
      cost_micros ${integer} not null,
      preview ${text} not null          -- how the first message begins
    )`,
    sql`create index sessions_recent on sessions (last_active_at, id)`,
    sql`create index sessions_recent_of_user on sessions (user_id, last_active_at, id)`,
    sql`create index sessions_recent_of_source on sessions (source, last_active_at, id)`,
    sql`create index sessions_recent_of_both on sessions (user_id, source, last_active_at, id)`,

    sql`create table session_messages (
      session_id ${text} not null,
      position ${integer} not null,     -- from 1; question and answer follow each other
      id ${text} not null,
      role ${text} not null,
      name ${text},
      content ${text} not null,
      at ${time} not null,
      tensor ${text},                   -- attention at the time of an answer
      poa_score ${real},                -- proof of attention at the time of an answer, 0 to 1
      token_count ${integer} not null,
      call_id ${text},                  -- that gave the answer
      primary key (session_id, position)
    )`,

    // Search index of sessions: the distinct words of a title, or of a question and its answer.
    sql`create table session_texts (
      seq ${sequence},
      session_id ${text} not null,
      user_id ${text} not null,
      position ${integer} not null,     -- of the question; 0 for the title
      words_text ${text} not null       -- see src/text/words.ts
    )`,
    sql`create index session_texts_of_session on session_texts (session_id, position)`,

    // Number of sessions of a user from one source.
    sql`create table session_totals (
      user_id ${text} not null,
      source ${text} not null,
      sessions ${integer} not null,
      primary key (user_id, source)
    )`,
    ...{ sqlite: sessionWordsOnSqlite, postgres: sessionWordsOnPostgres }[engine],
  ]
}

const sessionWordsOnSqlite: Statements = [
  sql`create virtual table session_words using fts5(
    words_text, user_id, content='session_texts', content_rowid='seq',
    tokenize='ascii', prefix='2 3 4'
  )`,
  sql`create trigger session_words_added after insert on session_texts begin
    insert into session_words (rowid, words_text, user_id) values (new.seq, new.words_text, new.user_id);
  end`,
  sql`create trigger session_words_removed after delete on session_texts begin
    insert into session_words (session_words, rowid, words_text, user_id)
      values ('delete', old.seq, old.words_text, old.user_id);
  end`,
  sql`create trigger session_words_changed after update of words_text on session_texts begin
    insert into session_words (session_words, rowid, words_text, user_id)
      values ('delete', old.seq, old.words_text, old.user_id);
    insert into session_words (rowid, words_text, user_id) values (new.seq, new.words_text, new.user_id);
  end`,
]

const sessionWordsOnPostgres: Statements = [
  sql`alter table session_texts add column words tsvector`,
  sql`create index session_texts_words on session_texts using gin (words)`,
  sql`create function session_words_kept() returns trigger language plpgsql as $$
    begin
      new.words := array_to_tsvector(string_to_array(nullif(new.words_text, ''), ' '));
      return new;
    end
  $$`,
  sql`create trigger session_words_kept before insert or update of words_text on session_texts
    for each row execute function session_words_kept()`,
]

/** Payments out on chains, and the transactions that were signed for them before sending. Addresses are lower case. */
const chain = ({ json, time, integer, text }: Columns): Statements => [
  // A payment that a released escrow or a withdrawal owes on a chain, under its id.
  sql`create table settlements (
    id ${text} not null primary key,
    recipient ${text} not null,
    micros ${integer} not null,
    chain_id ${integer} not null,
    token ${text} not null,           -- address
    status ${text} not null,          -- pending, submitted once a transaction is signed, confirmed, failed if it is refused
    nonce ${integer},                 -- of the account's transaction that pays it
    tx_hash ${text},                  -- of the transaction signed last, or mined
    block_number ${integer},
    attempts ${integer} not null,
    error ${text},
    next_at ${time} not null,         -- when it is looked at next
    created_at ${time} not null,
    updated_at ${time} not null
  )`,
  sql`create index settlements_due on settlements (chain_id, next_at) where status in ('pending', 'failed')`,

  // Deposited money that a caller withdraws.
  sql`create table withdrawals (
    id ${text} not null primary key,
    caller_id ${text} not null,
    recipient ${text} not null,
    amount_micros ${integer} not null,
    token ${text} not null,           -- that it is paid in
    created_at ${time} not null,
    settled_at ${time}                -- when the chain had paid it
  )`,

  // An account of this gateway on one chain.
  sql`create table chain_accounts (
    chain_id ${integer} not null,
    address ${text} not null,
    next_nonce ${integer} not null,
    tender ${text},                   -- process that tends its transactions
    tended_until ${time} not null,    -- end of its lease
    primary key (chain_id, address)
  )`,

  // A nonce of an account, and all transactions signed with it.
  sql`create table chain_transactions (
    chain_id ${integer} not null,
    address ${text} not null,
    nonce ${integer} not null,
    purpose ${text} not null,         -- settlement:ID or payment:NONCE
    status ${text} not null,          -- sent, final, reverted, or lost to a transaction signed elsewhere
    to_address ${text} not null,
    data ${text} not null,
    gas ${integer} not null,
    max_fee ${integer} not null,      -- in wei, as priority_fee; the gas price of a legacy transaction
    priority_fee ${integer},          -- null for a legacy transaction
    raw ${text} not null,             -- signed bytes of the highest fee, which are sent
    hashes ${json} not null,          -- of all that was signed, the newest last
    block_number ${integer},          -- that one of them is in, as far as is known
    signed_at ${time} not null,
    created_at ${time} not null,
    primary key (chain_id, address, nonce)
  )`,
  sql`create index chain_transactions_open on chain_transactions (chain_id, address, nonce) where status = 'sent'`,
  sql`create index chain_transactions_signed on chain_transactions (chain_id, address, signed_at)`,
  sql`create index chain_transactions_purpose on chain_transactions (purpose)`,
]

const payments = ({ time, integer, text }: Columns): Statements => [
  // A payment by a credential. Statuses:
  // - claimed: before it is settled on the chain
  // - freed: nothing could be signed for it, so it may be claimed again
  // - settled, then served: while its request is served, and after
  // - settled, then crediting and credited: while an account is credited, and after
  // - failed: the chain did not accept it before it expired, or never can
  sql`create table payments (
    id ${text} not null primary key,  -- of the challenge that it answers
    method ${text} not null,
    payer ${text} not null,
    account ${text} not null,         -- that it is credited to; without account_named, that it had when it was taken
    amount_micros ${integer} not null,
    scope ${text} not null,           -- what it pays for
    proof ${text} not null,           -- known before there is a transaction: nonce of an authorization, hash of a signed transaction
    reference ${text},                -- transaction that settled it
    status ${text} not null,
    lease_until ${time},              -- while there is something left to do with it
    created_at ${time} not null,
    expires_at ${time} not null,
    account_named ${integer} not null default 1 -- 0: the account is found at the moment of the credit
  )`,
  // A signed authorization counts for one payment, whatever transaction carries it; one transaction may carry several.
  sql`create unique index payments_settled on payments (method, payer, proof) where reference is not null`,
  sql`create index payments_unfinished on payments (lease_until) where lease_until is not null`,
]

const escrow = ({ time, integer, text }: Columns): Statements => [
  // The reward of a task, locked until the task is completed.
  sql`create table escrows (
    id ${text} not null primary key,
    task_id ${text} not null,
    amount_micros ${integer} not null,
    token ${text} not null,           -- what it is paid in
    payer ${text} not null,           -- caller
    recipient ${text},                -- key or address
    status ${text} not null,          -- see ESCROW_STATUSES; a locked one after expires_at counts as expired
    counted_on ${text} not null,      -- UTC day of \`spending\` that it is counted on
    counted_group ${text},            -- group whose spending it counts as, too
    settlement_mode ${text} not null, -- ledger, or evm for a chain
    attestation_id ${text},           -- that it was released with
    reason ${text},                   -- of a refund
    created_at ${time} not null,
    expires_at ${time} not null,
    released_at ${time},
    settled_at ${time},
    refunded_at ${time}
  )`,
  sql`create unique index escrow_of_task on escrows (task_id) where status <> 'refunded'`,
  sql`create index escrows_of_task on escrows (task_id, id)`,
  sql`create index escrows_by_status on escrows (status, id)`,
  sql`create index escrows_expiring on escrows (status, expires_at)`,
  sql`create index escrows_of_payer on escrows (payer, amount_micros) where status in ('locked', 'expired')`,
  sql`create index escrows_counted on escrows (payer, counted_on)`,
  sql`create index escrows_of_group on escrows (counted_group, counted_on) where counted_group is not null`,
]

/** Each list of tasks has its own index. Engines use it even without statistics. */
const tasks = ({ json, time, integer, text }: Columns): Statements => [
  sql`create table tasks (
    id ${text} not null primary key,
    title ${text} not null,
    description ${text} not null,
    reward_micros ${integer} not null,
    capabilities ${json} not null,
    status ${text} not null,          -- see TASK_STATUSES
    creator ${text} not null,         -- key
    agent ${text},                    -- name that the agent of claimed_by gave itself
    claimed_by ${text},               -- key
    claim_hash ${text},               -- SHA-256 of the live claim's token
    lease_seconds ${integer},
    lease_expires_at ${time},         -- a claimed task counts as open after it
    claimed_at ${time},
    completed_at ${time},
    result ${json},
    gaze_required ${integer} not null, -- 0 or 1
    depends_on ${json} not null,      -- ids of tasks
    waiting_on ${integer} not null,   -- how many of them are not completed
    swarm_id ${text},
    escrow_id ${text},
    reward_expires_at ${time},        -- nobody can claim it after that
    reward_settlement ${text},        -- its escrow's settlement_mode
    created_at ${time} not null,
    updated_at ${time} not null
  )`,
  sql`create index tasks_by_status on tasks (status, id)`,
  sql`create index tasks_of_agent on tasks (agent, id) where agent is not null`,
  sql`create index tasks_of_agent_by_status on tasks (agent, status, id) where agent is not null`,
  sql`create index tasks_of_swarm on tasks (swarm_id, id) where swarm_id is not null`,
  sql`create index tasks_leased on tasks (lease_expires_at) where lease_expires_at is not null`,

  // A goal that was split into tasks.
  sql`create table swarms (
    id ${text} not null primary key,
    goal ${text} not null,
    creator ${text} not null,         -- key
    created_at ${time} not null
  )`,

  // A capability that a task requires, with the columns that lists of a capability are filtered by.
  sql`create table task_capabilities (
    task_id ${text} not null,
    capability ${text} not null,
    status ${text} not null,          -- the task's, as agent
    agent ${text},
    primary key (task_id, capability)
  )`,
  sql`create index tasks_with_capability on task_capabilities (capability, task_id)`,
  sql`create index tasks_with_capability_by_status on task_capabilities (capability, status, task_id)`,
  sql`create index tasks_of_agent_with_capability on task_capabilities (agent, capability, task_id)
    where agent is not null`,
  sql`create index tasks_of_agent_with_capability_by_status
    on task_capabilities (agent, capability, status, task_id) where agent is not null`,

  // A task that waits for another.
  sql`create table task_dependencies (
    depends_on ${text} not null,
    task_id ${text} not null,
    primary key (depends_on, task_id)
  )`,

  // Tasks and escrows by status, and their money. Writers pick a shard. The rows are summed; a single row may be
  // negative.
  sql`create table task_totals (
    shard ${integer} not null primary key,
    blocked ${integer} not null,
    open ${integer} not null,
    claimed ${integer} not null,
    completed ${integer} not null,
    failed ${integer} not null,
    cancelled ${integer} not null,
    escrow_locked ${integer} not null,
    escrow_released ${integer} not null,
    escrow_settled ${integer} not null,
    escrow_expired ${integer} not null,
    escrow_refunded ${integer} not null,
    locked_micros ${integer} not null,
    paid_micros ${integer} not null,
    refunded_micros ${integer} not null
  )`,
]

/** Agent sockets. */
const connections = ({ time, integer, text }: Columns): Statements => [
  // An open socket, updated every few seconds.
  sql`create table connections (
    id ${text} not null primary key,
    instance ${text} not null,        -- process that serves it
    key_id ${text} not null,
    user_name ${text} not null,
    role ${text} not null,
    session_id ${text} not null,
    remote ${text} not null,          -- address of the client
    messages ${integer} not null,
    connected_at ${time} not null,
    last_active_at ${time} not null,
    closing_at ${time}                -- when its closing was asked for; instance does it
  )`,
  sql`create index connections_instance on connections (instance)`,
  sql`create index connections_key on connections (key_id, id)`,
  sql`create index connections_closing on connections (instance) where closing_at is not null`,

  // A process that serves sockets. When it stops renewing `alive_until`, its connections count as closed.
  sql`create table connection_instances (
    id ${text} not null primary key,
    alive_until ${time} not null
  )`,
  sql`create index connection_instances_alive on connection_instances (alive_until)`,

  // An unused ticket.
  sql`create table connection_tickets (
    id ${text} not null primary key,  -- of the connection that it opens
    hash ${text} not null unique,     -- SHA-256 of it, hex; with the fixed key where that made it
    key_id ${text} not null,          -- key that made it
    user_name ${text} not null,
    role ${text} not null,
    expires_at ${time} not null
  )`,
  sql`create index connection_tickets_expiry on connection_tickets (expires_at)`,
]
