create table sweeps (
    name text collate "C" not null primary key,
    next_at timestamptz(3) not null
  );
create table settings (
    path text collate "C" not null primary key, -- dotted configuration key; of a record, all of it
    value json not null,            -- null is the default, whatever config.json says
    updated_at timestamptz(3) not null
  );
create table settings_revision (
    id bigint not null primary key,
    revision bigint not null
  );
insert into settings_revision (id, revision) values (1, 0);
create table keys (
    id text collate "C" not null primary key,
    name text collate "C" not null,
    hash text collate "C" not null,        -- SHA-256 of the whole token, hex
    scopes json not null,
    group_id text collate "C",             -- whose budgets bind it too
    wallet text collate "C",               -- address whose balance the key shares
    billing text collate "C" not null,     -- recorded, cost or metered
    credit_limit_micros bigint,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrent bigint,        -- calls at a time
    models json,               -- globs of the models that it may ask; null is all
    first bigint unique,      -- 1 for the key made at the first start, else null: there is one at most
    created_at timestamptz(3) not null,
    expires_at timestamptz(3),
    last_used_at timestamptz(3),
    rotated_at timestamptz(3),
    previous_hash text collate "C",        -- of the token before the last rotation
    previous_until timestamptz(3),       -- when that token stops working
    revoked_at timestamptz(3)
  );
create index keys_revoked on keys (revoked_at) where revoked_at is not null;
create index keys_expiry on keys (expires_at) where expires_at is not null;
create index keys_wallet on keys (wallet) where wallet is not null;
create index keys_of_group on keys (group_id) where group_id is not null and revoked_at is null;
create table budgets (
    owner text collate "C" not null,       -- id of the key or group
    per text collate "C" not null,         -- day, week, month or total
    micros bigint not null,
    primary key (owner, per)
  ) ;
create table alerts (
    owner text collate "C" not null,       -- id of the key or group
    percent bigint not null,
    primary key (owner, percent)
  ) ;
create table key_groups (
    id text collate "C" not null primary key,
    name text collate "C" not null unique,
    created_at timestamptz(3) not null
  );
create table idempotency_keys (
    scope text collate "C" not null,        -- the caller
    key text collate "C" not null,
    fingerprint text collate "C" not null,  -- SHA-256 of route and body
    attempt text collate "C" not null,      -- id of the run that owns the row
    in_flight_until timestamptz(3),       -- while it runs, then null
    status bigint,             -- HTTP status of the reply
    headers text collate "C",               -- JSON, as it was
    body text collate "C",                  -- as it was; null where it is not kept
    expires_at timestamptz(3) not null,
    primary key (scope, key)
  );
create index idempotency_keys_expiry on idempotency_keys (expires_at);
create table calls (
    call_id text collate "C" primary key,
    at timestamptz(3) not null,                    -- when it began
    surface text collate "C" not null,               -- stdio, http, platform or socket
    caller_id text collate "C",
    path text collate "C" not null,                  -- on the upstream
    requested_model text collate "C",
    model text collate "C",                          -- that the upstream was asked for
    upstream text collate "C" not null,
    stream bigint not null,             -- 0 or 1
    status text collate "C" not null,                -- ok, error, aborted or refused
    http_status bigint,
    fallback_from text collate "C",                  -- id of the call whose failure led to this one
    latency_ms bigint not null,
    latency_bucket bigint not null,     -- see src/calls/latency-buckets.ts
    first_token_ms bigint,
    prompt_tokens bigint,               -- tokens are null where no usage is known
    completion_tokens bigint,
    total_tokens bigint,
    cached_tokens bigint,               -- of the prompt, from the provider's cache; null for none
    cache_write_tokens bigint,          -- of the prompt, put into that cache; null for none
    usage_estimated bigint not null,    -- 0 or 1
    upstream_cost_micros bigint not null,
    error text collate "C",
    content text collate "C"                         -- JSON; only where audit.store_content is set
  );
create index calls_at on calls (at, call_id);
create index calls_status on calls (status, at);
create index calls_model on calls (model, at);
create index calls_path on calls (path, at);
create index calls_caller_id on calls (caller_id, at);
create index calls_fallback on calls (at) where fallback_from is not null;
create table call_rollups (
    hour timestamptz(3) not null,
    model text collate "C" not null,
    caller_id text collate "C" not null,
    path text collate "C" not null,
    status text collate "C" not null,
    latency_bucket bigint not null,
    calls bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    total_tokens bigint not null,
    upstream_cost_micros bigint not null,
    primary key (hour, model, caller_id, path, status, latency_bucket)
  );
create table call_sums (
    level text collate "C" not null,      -- hour, or hour_of_all, day_of_all, day_of_caller, which leave dimensions empty
    start timestamptz(3) not null,      -- of the hour or day
    caller_id text collate "C" not null,
    model text collate "C" not null,
    path text collate "C" not null,
    status text collate "C" not null,
    calls bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    total_tokens bigint not null,
    upstream_cost_micros bigint not null,
    latencies text collate "C" not null,  -- JSON list of each latency bucket and its calls
    primary key (level, start, caller_id, model, path, status)
  ) ;
create index call_sums_of_caller on call_sums (level, caller_id, start);
create table call_totals (
    model text collate "C" not null,
    caller_id text collate "C" not null,
    path text collate "C" not null,
    status text collate "C" not null,
    calls bigint not null,
    primary key (model, caller_id, path, status)
  );
create table upstream_objects (
    id text collate "C" not null,
    caller_id text collate "C" not null,
    upstream text collate "C" not null,
    at timestamptz(3) not null,
    primary key (id, caller_id)
  );
create index upstream_objects_at on upstream_objects (at);
create table ledger_accounts (
    id text collate "C" not null primary key,     -- KIND:OWNER, or escrow:ESCROW
    kind text collate "C" not null,               -- see AccountKind
    owner text collate "C" not null,              -- id of the caller whose money it is
    balance_micros bigint not null,  -- below 0 by the credit used
    deposited_micros bigint not null, -- the part that comes from deposits; above a balance that credit has lowered
    transfers bigint not null,       -- in its hash chain
    head text collate "C" not null                -- hash of the last of them
  );
create index ledger_accounts_owner on ledger_accounts (owner);
create index ledger_accounts_locked on ledger_accounts (kind, balance_micros)
    where kind in ('escrow', 'settling') and balance_micros > 0;
create table ledger_transfers (
    key text collate "C" not null unique,  -- idempotency key
    chain text collate "C" not null,       -- id of its first account
    position bigint not null, -- in the chain, from 1
    kind text collate "C" not null,        -- see TransferKind
    entries json not null,     -- signed amounts by account; their sum is 0
    memo text collate "C",
    at timestamptz(3) not null,
    hash text collate "C" not null,        -- over all of this and the hash before
    primary key (chain, position)
  ) ;
create table metered_calls (
    call_id text collate "C" not null primary key,
    caller_id text collate "C" not null,
    model text collate "C" not null,
    status text collate "C" not null,              -- held, captured or voided
    at timestamptz(3) not null,
    deadline timestamptz(3) not null,            -- a hold that is older is given back
    path text collate "C" not null,                -- endpoint that was asked: /api/wallet/metered/call or one below /v1
    counted_on text collate "C" not null,          -- UTC day of `spending` that it is counted on
    group_id text collate "C",                     -- group whose spending it counts as, too
    transfer text collate "C",                     -- key of the ledger transfer that took its money; null where none was
    held_micros bigint not null,      -- the worst case
    margin_micros bigint not null,
    upstream_cost_micros bigint not null,
    token text collate "C" not null,               -- what it is paid in
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    total_tokens bigint not null,
    usage_estimated bigint not null,  -- 0 or 1
    latency_ms bigint not null,
    upstream_call_id text collate "C",             -- of its record in calls
    idempotency_key text collate "C",              -- cleared with content once it has expired
    fingerprint text collate "C",                  -- SHA-256 of the request that the key stands for
    content text collate "C"                       -- the answer as JSON, for who repeats the request
  ) ;
create index receipts on metered_calls (at, call_id) where status = 'captured';
create index receipts_of_caller on metered_calls (caller_id, at, call_id) where status = 'captured';
create index holds on metered_calls (deadline) where status = 'held';
create unique index metered_calls_once on metered_calls (caller_id, idempotency_key)
    where idempotency_key is not null;
create index metered_calls_kept on metered_calls (at) where idempotency_key is not null;
create index metered_calls_counted on metered_calls (caller_id, counted_on);
create index metered_calls_of_group on metered_calls (group_id, counted_on) where group_id is not null;
create index metered_calls_of_transfer on metered_calls (transfer) where transfer is not null;
create table metered_usage (
    caller_id text collate "C" not null,
    day text collate "C" not null,       -- 2026-11-21
    model text collate "C" not null,
    calls bigint not null,
    total_tokens bigint not null,
    upstream_cost_micros bigint not null,
    margin_micros bigint not null,
    primary key (caller_id, day, model)
  ) ;
create table spending (
    owner text collate "C" not null,
    day text collate "C" not null,                 -- 2026-11-21, or total
    charged_micros bigint not null,   -- of charged calls, reserved ones too, and of escrows
    recorded_micros bigint not null,  -- of calls whose cost is recorded and not charged
    primary key (owner, day)
  ) ;
create table allowances (
    id text collate "C" not null primary key,
    holder text collate "C" not null,              -- the process
    key_id text collate "C" not null,
    group_id text collate "C",
    day text collate "C" not null,                 -- UTC day of the calls that it is for
    charged bigint not null,          -- 0, or 1 where `micros` of the ledger's held:KEY belong to it
    micros bigint not null,           -- reserved and not yet in `spending`
    turn bigint not null,             -- number of its last change by its holder
    granted bigint not null,          -- what that change added
    renewed_at timestamptz(3) not null           -- a process that is gone renews nothing: its allowances are given back
  );
create index allowances_of_key on allowances (key_id, day);
create index allowances_of_group on allowances (group_id, day) where group_id is not null;
create index allowances_of_holder on allowances (holder);
create index allowances_renewed on allowances (renewed_at);
create table alert_messages (
    id text collate "C" not null primary key,   -- its webhook-id
    owner text collate "C" not null,            -- id of the key or group
    per text collate "C" not null,
    period text collate "C" not null,           -- first UTC day of the period, or total
    percent bigint not null,
    body text collate "C" not null,             -- JSON, the same in each attempt
    created_at timestamptz(3) not null,
    next_at timestamptz(3),                   -- of the next attempt; null once it is delivered or given up
    attempts bigint not null,
    delivered_at timestamptz(3),
    error text collate "C",                     -- of the last attempt
    unique (owner, per, period, percent)
  );
create index alert_messages_due on alert_messages (next_at) where next_at is not null;
create index alert_messages_done on alert_messages (created_at) where next_at is null;
create table memory_spaces (
      space bigint generated by default as identity primary key,
      key_id text collate "C" not null unique,
      ends_at timestamptz(3)                  -- when the memories of a revoked key are deleted
    );
create index memory_spaces_end on memory_spaces (ends_at) where ends_at is not null;
create table memories (
      seq bigint generated by default as identity primary key,
      id text collate "C" not null unique,
      space bigint not null,
      project text collate "C",                 -- folder that it belongs to; null for none
      namespace text collate "C" not null,
      key text collate "C" not null,
      tags text collate "C" not null,           -- JSON
      also text collate "C" not null,           -- JSON; words that others may ask with
      bytes bigint not null,       -- counted in memory_totals, as words is
      words bigint not null,       -- of the value
      embedded text collate "C" not null,       -- what its vector was made with; empty: it has none
      version bigint not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      expires_at timestamptz(3),
      key_text text collate "C" not null,       -- words for the index; see src/memory/indexed-words.ts
      tags_text text collate "C" not null,
      also_text text collate "C" not null,
      -- Last: what stands after long values is looked for in all their pages.
      value text collate "C" not null,          -- JSON exactly as it was stored: key order, numbers, \u0000
      value_text text collate "C" not null,
      unique (space, namespace, key)
    );
create index memories_in_space on memories (space, seq);
create index memories_recent on memories (space, updated_at, seq);
create index memories_recent_in_namespace on memories (space, namespace, updated_at, seq);
create index memories_recent_in_project on memories (space, project, updated_at, seq);
create index memories_embedded on memories (embedded, seq);
create index memories_expiry on memories (expires_at) where expires_at is not null;
create index memories_expiry_in_namespace on memories (space, namespace, expires_at)
      where expires_at is not null;
create table memory_tags (
      seq bigint not null,         -- of the memory
      tag text collate "C" not null,
      space bigint not null,
      namespace text collate "C" not null,
      updated_at timestamptz(3) not null,
      primary key (seq, tag)
    );
create index memory_tags_recent on memory_tags (space, tag, updated_at, seq, namespace);
create table memory_versions (
      space bigint not null,
      namespace text collate "C" not null,
      key text collate "C" not null,
      version bigint not null,
      id text collate "C" not null,
      project text collate "C",
      tags text collate "C" not null,
      also text collate "C" not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      expires_at timestamptz(3),
      superseded_by text collate "C",           -- key
      value text collate "C" not null,
      primary key (space, namespace, key, version)
    );
create index memory_versions_of_memory on memory_versions (id);
create index memory_versions_expiry on memory_versions (expires_at) where expires_at is not null;
create table memory_totals (
      space bigint not null,
      namespace text collate "C" not null,
      shard bigint not null,
      memories bigint not null,
      bytes bigint not null,
      words bigint not null,
      primary key (space, namespace, shard)
    );
create table memory_vectors (
      place bigint generated by default as identity primary key,
      seq bigint not null unique,  -- of the memory
      space bigint not null,
      source text collate "C" not null,         -- upstream, model, prefix and length
      signs text collate "C" not null,          -- base64; see src/memory/quantized.ts
      vector text collate "C" not null
    );
create index memory_vectors_of_source on memory_vectors (space, source, place);
create table memory_words (
      space bigint not null,
      word text collate "C" not null,
      stem text collate "C" not null,           -- which words that inflect alike share
      ending text collate "C" not null,         -- the word backwards; empty where nobody looks for words by how they end
      memories bigint not null,
      primary key (space, word)
    );
create index memory_words_stems on memory_words (space, stem);
create index memory_words_endings on memory_words (space, ending) where ending <> '';
alter table memories add column lexemes tsvector;
create index memories_lexemes on memories using gin (lexemes);
create function memory_lexemes(words text, place text) returns tsvector language sql immutable as $$
    select coalesce(string_agg(distinct quote_literal(word) || ':1' || place, ' '), '')::tsvector
    from unnest(string_to_array(words, ' ')) as split (word) where word <> ''
  $$;
create function memory_lexemes_kept() returns trigger language plpgsql as $$
    begin
      new.lexemes := memory_lexemes(new.key_text, 'A') || memory_lexemes(new.tags_text, 'B')
        || memory_lexemes(new.also_text, 'C') || memory_lexemes(new.value_text, 'D');
      return new;
    end
  $$;
create trigger memory_lexemes_kept before insert or update of key_text, value_text, tags_text, also_text on memories
    for each row execute function memory_lexemes_kept();
create table gaze_sessions (
    session_id text collate "C" primary key,
    task_id text collate "C",
    caller_id text collate "C",
    records bigint not null,    -- that it ever had
    pruned bigint not null,     -- of them, how many are deleted
    chain_head text collate "C" not null,    -- hash of the last record
    last_place text collate "C",             -- path and lines of the last record
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
create index gaze_sessions_updated on gaze_sessions (updated_at, session_id);
create index gaze_sessions_caller_updated on gaze_sessions (caller_id, updated_at, session_id)
    where caller_id is not null;
create index gaze_sessions_task on gaze_sessions (task_id, updated_at) where task_id is not null;
create table gaze_records (
    id text collate "C" primary key,
    session_id text collate "C" not null,
    seq bigint not null,          -- in the session, from 1
    task_id text collate "C",
    caller_id text collate "C",                -- its session's
    at timestamptz(3) not null,              -- when it began, by the client's clock
    stored_at timestamptz(3) not null,
    dwell_ms bigint not null,
    source text collate "C" not null,
    confidence double precision,               -- null where the source states none
    x double precision,                        -- these and path repeat what of the tensor is searched and scored
    y double precision,
    path text collate "C",
    tensor json not null,          -- the whole record
    hash text collate "C" not null,            -- over it and the hash before, in the session's chain
    content_hash text collate "C" not null,    -- of the record alone
    shape_hash text collate "C",               -- of it and those before it, without their times; null where too few come before
    tick bigint,                  -- Unix ms by which it is assessed; null for a raw sample beside another one
    copied bigint not null,       -- 1 when another session had its content, shape or trace before
    unique (session_id, at, source),
    unique (session_id, seq)
  );
create index gaze_records_at on gaze_records (at, id);
create index gaze_records_path on gaze_records (path, at, id) where path is not null;
create index gaze_records_source on gaze_records (source, at, id);
create index gaze_records_tick on gaze_records (session_id, tick) where tick is not null;
create index gaze_records_caller on gaze_records (caller_id, at, id) where caller_id is not null;
create index gaze_records_caller_path on gaze_records (caller_id, path, at, id) where caller_id is not null;
create index gaze_records_caller_source on gaze_records (caller_id, source, at, id)
    where caller_id is not null;
create table gaze_prints (
    hash text collate "C" not null primary key,
    session_id text collate "C" not null
  );
create table gaze_traces (
    hash text collate "C" not null primary key,
    session_id text collate "C" not null,
    at timestamptz(3) not null,              -- when it began
    steps json not null
  );
create index gaze_traces_at on gaze_traces (at);
create table gaze_dwell (
    hour timestamptz(3) not null,
    path text collate "C" not null,
    line_start bigint not null,   -- lines are 0 where the records name none
    line_end bigint not null,
    dwell_ms bigint not null,
    visits bigint not null,
    last_seen_at timestamptz(3) not null,
    primary key (hour, path, line_start, line_end)
  );
create table attestations (
    id text collate "C" primary key,
    session_id text collate "C" not null,
    task_id text collate "C",
    status text collate "C" not null,          -- collecting, passed or failed
    poa_score double precision not null,       -- proof of attention, 0 to 1
    issued_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    body json not null             -- all of it
  );
create index attestations_of_session on attestations (session_id, issued_at, id);
create table attestation_uses (
    attestation_id text collate "C" not null primary key,
    session_id text collate "C",
    records bigint,               -- of the session, from its first, that are used up with it
    used_by text collate "C" not null,
    used_at timestamptz(3) not null
  );
create index attestation_uses_of_session on attestation_uses (session_id, records);
create table sessions (
      id text collate "C" not null primary key,
      user_id text collate "C" not null,
      source text collate "C" not null,
      title text collate "C",
      model text collate "C",                    -- null where the configured chat model answers
      started_at timestamptz(3) not null,
      last_active_at timestamptz(3) not null,
      ended_at timestamptz(3),
      end_reason text collate "C",
      parent_session_id text collate "C",        -- that it goes on from
      message_count bigint not null,
      tool_call_count bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_micros bigint not null,
      preview text collate "C" not null          -- how the first message begins
    );
create index sessions_recent on sessions (last_active_at, id);
create index sessions_recent_of_user on sessions (user_id, last_active_at, id);
create index sessions_recent_of_source on sessions (source, last_active_at, id);
create index sessions_recent_of_both on sessions (user_id, source, last_active_at, id);
create table session_messages (
      session_id text collate "C" not null,
      position bigint not null,     -- from 1; question and answer follow each other
      id text collate "C" not null,
      role text collate "C" not null,
      name text collate "C",
      content text collate "C" not null,
      at timestamptz(3) not null,
      tensor text collate "C",                   -- attention at the time of an answer
      poa_score double precision,                -- proof of attention at the time of an answer, 0 to 1
      token_count bigint not null,
      call_id text collate "C",                  -- that gave the answer
      primary key (session_id, position)
    );
create table session_texts (
      seq bigint generated by default as identity primary key,
      session_id text collate "C" not null,
      user_id text collate "C" not null,
      position bigint not null,     -- of the question; 0 for the title
      words_text text collate "C" not null       -- see src/text/words.ts
    );
create index session_texts_of_session on session_texts (session_id, position);
create table session_totals (
      user_id text collate "C" not null,
      source text collate "C" not null,
      sessions bigint not null,
      primary key (user_id, source)
    );
alter table session_texts add column words tsvector;
create index session_texts_words on session_texts using gin (words);
create function session_words_kept() returns trigger language plpgsql as $$
    begin
      new.words := array_to_tsvector(string_to_array(nullif(new.words_text, ''), ' '));
      return new;
    end
  $$;
create trigger session_words_kept before insert or update of words_text on session_texts
    for each row execute function session_words_kept();
create table conversations (
    id text collate "C" not null primary key,
    owner text collate "C" not null,        -- id of a key; empty for the person whose machine it is
    turns bigint not null,
    bytes bigint not null,     -- of all messages, as JSON
    expires_at timestamptz(3) not null    -- 24 h after the last turn
  );
create index conversations_expiry on conversations (expires_at);
create table conversation_turns (
    conversation_id text collate "C" not null,
    turn bigint not null,      -- from 1
    messages text collate "C" not null,     -- JSON, a list of chat messages
    primary key (conversation_id, turn)
  );
create table settlements (
    id text collate "C" not null primary key,
    recipient text collate "C" not null,
    micros bigint not null,
    chain_id bigint not null,
    token text collate "C" not null,           -- address
    status text collate "C" not null,          -- pending, submitted once a transaction is signed, confirmed, failed if it is refused
    nonce bigint,                 -- of the account's transaction that pays it
    tx_hash text collate "C",                  -- of the transaction signed last, or mined
    block_number bigint,
    attempts bigint not null,
    error text collate "C",
    next_at timestamptz(3) not null,         -- when it is looked at next
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
create index settlements_due on settlements (chain_id, next_at) where status in ('pending', 'failed');
create table withdrawals (
    id text collate "C" not null primary key,
    caller_id text collate "C" not null,
    recipient text collate "C" not null,
    amount_micros bigint not null,
    token text collate "C" not null,           -- that it is paid in
    created_at timestamptz(3) not null,
    settled_at timestamptz(3)                -- when the chain had paid it
  );
create table chain_accounts (
    chain_id bigint not null,
    address text collate "C" not null,
    next_nonce bigint not null,
    tender text collate "C",                   -- process that tends its transactions
    tended_until timestamptz(3) not null,    -- end of its lease
    primary key (chain_id, address)
  );
create table chain_transactions (
    chain_id bigint not null,
    address text collate "C" not null,
    nonce bigint not null,
    purpose text collate "C" not null,         -- settlement:ID or payment:NONCE
    status text collate "C" not null,          -- sent, final, reverted, or lost to a transaction signed elsewhere
    to_address text collate "C" not null,
    data text collate "C" not null,
    gas bigint not null,
    max_fee bigint not null,      -- in wei, as priority_fee; the gas price of a legacy transaction
    priority_fee bigint,          -- null for a legacy transaction
    raw text collate "C" not null,             -- signed bytes of the highest fee, which are sent
    hashes json not null,          -- of all that was signed, the newest last
    block_number bigint,          -- that one of them is in, as far as is known
    signed_at timestamptz(3) not null,
    created_at timestamptz(3) not null,
    primary key (chain_id, address, nonce)
  );
create index chain_transactions_open on chain_transactions (chain_id, address, nonce) where status = 'sent';
create index chain_transactions_signed on chain_transactions (chain_id, address, signed_at);
create index chain_transactions_purpose on chain_transactions (purpose);
create table payments (
    id text collate "C" not null primary key,  -- of the challenge that it answers
    method text collate "C" not null,
    payer text collate "C" not null,
    account text collate "C" not null,         -- that it is credited to; without account_named, that it had when it was taken
    amount_micros bigint not null,
    scope text collate "C" not null,           -- what it pays for
    proof text collate "C" not null,           -- known before there is a transaction: nonce of an authorization, hash of a signed transaction
    reference text collate "C",                -- transaction that settled it
    status text collate "C" not null,
    lease_until timestamptz(3),              -- while there is something left to do with it
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    account_named bigint not null default 1 -- 0: the account is found at the moment of the credit
  );
create unique index payments_settled on payments (method, payer, proof) where reference is not null;
create index payments_unfinished on payments (lease_until) where lease_until is not null;
create table escrows (
    id text collate "C" not null primary key,
    task_id text collate "C" not null,
    amount_micros bigint not null,
    token text collate "C" not null,           -- what it is paid in
    payer text collate "C" not null,           -- caller
    recipient text collate "C",                -- key or address
    status text collate "C" not null,          -- see ESCROW_STATUSES; a locked one after expires_at counts as expired
    counted_on text collate "C" not null,      -- UTC day of `spending` that it is counted on
    counted_group text collate "C",            -- group whose spending it counts as, too
    settlement_mode text collate "C" not null, -- ledger, or evm for a chain
    attestation_id text collate "C",           -- that it was released with
    reason text collate "C",                   -- of a refund
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    released_at timestamptz(3),
    settled_at timestamptz(3),
    refunded_at timestamptz(3)
  );
create unique index escrow_of_task on escrows (task_id) where status <> 'refunded';
create index escrows_of_task on escrows (task_id, id);
create index escrows_by_status on escrows (status, id);
create index escrows_expiring on escrows (status, expires_at);
create index escrows_of_payer on escrows (payer, amount_micros) where status in ('locked', 'expired');
create index escrows_counted on escrows (payer, counted_on);
create index escrows_of_group on escrows (counted_group, counted_on) where counted_group is not null;
create table tasks (
    id text collate "C" not null primary key,
    title text collate "C" not null,
    description text collate "C" not null,
    reward_micros bigint not null,
    capabilities json not null,
    status text collate "C" not null,          -- see TASK_STATUSES
    creator text collate "C" not null,         -- key
    agent text collate "C",                    -- name that the agent of claimed_by gave itself
    claimed_by text collate "C",               -- key
    claim_hash text collate "C",               -- SHA-256 of the live claim's token
    lease_seconds bigint,
    lease_expires_at timestamptz(3),         -- a claimed task counts as open after it
    claimed_at timestamptz(3),
    completed_at timestamptz(3),
    result json,
    gaze_required bigint not null, -- 0 or 1
    depends_on json not null,      -- ids of tasks
    waiting_on bigint not null,   -- how many of them are not completed
    swarm_id text collate "C",
    escrow_id text collate "C",
    reward_expires_at timestamptz(3),        -- nobody can claim it after that
    reward_settlement text collate "C",        -- its escrow's settlement_mode
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
create index tasks_by_status on tasks (status, id);
create index tasks_of_agent on tasks (agent, id) where agent is not null;
create index tasks_of_agent_by_status on tasks (agent, status, id) where agent is not null;
create index tasks_of_swarm on tasks (swarm_id, id) where swarm_id is not null;
create index tasks_leased on tasks (lease_expires_at) where lease_expires_at is not null;
create table swarms (
    id text collate "C" not null primary key,
    goal text collate "C" not null,
    creator text collate "C" not null,         -- key
    created_at timestamptz(3) not null
  );
create table task_capabilities (
    task_id text collate "C" not null,
    capability text collate "C" not null,
    status text collate "C" not null,          -- the task's, as agent
    agent text collate "C",
    primary key (task_id, capability)
  );
create index tasks_with_capability on task_capabilities (capability, task_id);
create index tasks_with_capability_by_status on task_capabilities (capability, status, task_id);
create index tasks_of_agent_with_capability on task_capabilities (agent, capability, task_id)
    where agent is not null;
create index tasks_of_agent_with_capability_by_status
    on task_capabilities (agent, capability, status, task_id) where agent is not null;
create table task_dependencies (
    depends_on text collate "C" not null,
    task_id text collate "C" not null,
    primary key (depends_on, task_id)
  );
create table task_totals (
    shard bigint not null primary key,
    blocked bigint not null,
    open bigint not null,
    claimed bigint not null,
    completed bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    escrow_locked bigint not null,
    escrow_released bigint not null,
    escrow_settled bigint not null,
    escrow_expired bigint not null,
    escrow_refunded bigint not null,
    locked_micros bigint not null,
    paid_micros bigint not null,
    refunded_micros bigint not null
  );
create table connections (
    id text collate "C" not null primary key,
    instance text collate "C" not null,        -- process that serves it
    key_id text collate "C" not null,
    user_name text collate "C" not null,
    role text collate "C" not null,
    session_id text collate "C" not null,
    remote text collate "C" not null,          -- address of the client
    messages bigint not null,
    connected_at timestamptz(3) not null,
    last_active_at timestamptz(3) not null,
    closing_at timestamptz(3)                -- when its closing was asked for; instance does it
  );
create index connections_instance on connections (instance);
create index connections_key on connections (key_id, id);
create index connections_closing on connections (instance) where closing_at is not null;
create table connection_instances (
    id text collate "C" not null primary key,
    alive_until timestamptz(3) not null
  );
create index connection_instances_alive on connection_instances (alive_until);
create table connection_tickets (
    id text collate "C" not null primary key,  -- of the connection that it opens
    hash text collate "C" not null unique,     -- SHA-256 of it, hex; with the fixed key where that made it
    key_id text collate "C" not null,          -- key that made it
    user_name text collate "C" not null,
    role text collate "C" not null,
    expires_at timestamptz(3) not null
  );
create index connection_tickets_expiry on connection_tickets (expires_at);
alter table "memories" add column written_by text collate "C";
update "memories" set written_by =
      (select key_id from memory_spaces where memory_spaces.space = "memories".space) where space <> 0;
alter table "memory_versions" add column written_by text collate "C";
update "memory_versions" set written_by =
      (select key_id from memory_spaces where memory_spaces.space = "memory_versions".space) where space <> 0;
alter table calls add column skipped text collate "C";
alter table calls add column address text collate "C";

    insert into allowances (id, holder, key_id, group_id, day, charged, micros, turn, granted, renewed_at)
    select 'alw_' || call_id, 'metered call', caller_id, group_id, counted_on, 1, held_micros, 0, 0, at
    from metered_calls where status = 'held' and held_micros > 0;

    update spending set charged_micros = charged_micros - (
      select coalesce(sum(c.held_micros), 0) from metered_calls as c
      where c.status = 'held' and spending.owner in (c.caller_id, c.group_id)
        and spending.day in (c.counted_on, 'total'))
    where owner in (
      select caller_id from metered_calls where status = 'held'
      union select group_id from metered_calls where status = 'held');
delete from metered_calls where status <> 'captured';
drop index "holds";
drop index "metered_calls_once";
drop index "metered_calls_kept";
drop index "receipts";
drop index "receipts_of_caller";
alter table metered_calls drop column "status";
alter table metered_calls drop column "deadline";
alter table metered_calls drop column "held_micros";
alter table metered_calls drop column "idempotency_key";
alter table metered_calls drop column "fingerprint";
alter table metered_calls drop column "content";
create index receipts on metered_calls (at, call_id);
create index receipts_of_caller on metered_calls (caller_id, at, call_id);
create index tasks_of_creator on tasks (creator, status, id);
create index tasks_of_claimant on tasks (claimed_by, status, id) where claimed_by is not null;
alter table calls add column price_from text collate "C";
alter table metered_calls add column upstream text collate "C" not null default '';
alter table metered_calls add column price text collate "C" not null default '';
alter table metered_calls add column cached_tokens bigint not null default 0;
alter table metered_calls add column cache_write_tokens bigint not null default 0;
alter table metered_calls add column cache_write_1h_tokens bigint not null default 0;
alter table metered_calls add column charged bigint not null default 1;
alter table metered_calls add column capped bigint not null default 0;
alter table metered_calls add column stated bigint not null default 0;
alter table metered_usage rename to metered_usage_before;
create table metered_usage (
    caller_id text collate "C" not null,
    day text collate "C" not null,
    model text collate "C" not null,
    upstream text collate "C" not null default '',
    price text collate "C" not null default '',
    charged bigint not null default 1,
    calls bigint not null,
    total_tokens bigint not null,
    upstream_cost_micros bigint not null,
    margin_micros bigint not null,
    prompt_tokens bigint not null default 0,
    cached_tokens bigint not null default 0,
    cache_write_tokens bigint not null default 0,
    cache_write_1h_tokens bigint not null default 0,
    completion_tokens bigint not null default 0,
    estimated_calls bigint not null default 0,
    capped_calls bigint not null default 0,
    stated_calls bigint not null default 0,
    primary key (caller_id, day, model, upstream, price, charged)
  );

    insert into metered_usage (caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros,
      prompt_tokens, completion_tokens, estimated_calls)
    select u.caller_id, u.day, u.model, u.calls, u.total_tokens, u.upstream_cost_micros, u.margin_micros,
      coalesce(r.prompt_tokens, 0), coalesce(r.completion_tokens, 0), coalesce(r.estimated_calls, 0)
    from metered_usage_before as u left join (
      select caller_id, to_char("at" at time zone 'UTC', 'YYYY-MM-DD') as day, model, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(usage_estimated) as estimated_calls
      from metered_calls group by 1, 2, 3) as r
      on r.caller_id = u.caller_id and r.day = u.day and r.model = u.model;
drop table metered_usage_before;
create index metered_usage_of_day on metered_usage (day);
create table closed_periods (
    period text collate "C" not null primary key,
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    closed_at timestamptz(3) not null,
    closed_by text collate "C" not null,
    ledger_head text collate "C"
  );
create index closed_periods_end on closed_periods (ends_at);
create index ledger_deposits on ledger_transfers (at, key) where kind = 'deposit';
create index ledger_movements on ledger_transfers (chain, at) where kind not in ('reserve', 'void', 'capture', 'charge');
create index ledger_movements_at on ledger_transfers (at) where kind not in ('reserve', 'void', 'capture', 'charge');
create index payments_made on payments (created_at, id);
create index withdrawals_made on withdrawals (created_at, id);
update memory_versions set project = case
    when exists (select 1 from memories where "memories".space = memory_versions.space
    and "memories".namespace = memory_versions.namespace and "memories".key = memory_versions.key)
      then (select project from memories where "memories".space = memory_versions.space
    and "memories".namespace = memory_versions.namespace and "memories".key = memory_versions.key)
    else (select project from memory_versions as later where "later".space = memory_versions.space
    and "later".namespace = memory_versions.namespace and "later".key = memory_versions.key order by version desc limit 1)
  end;
alter table memories drop constraint memories_space_namespace_key_key;
alter table memory_versions drop constraint memory_versions_pkey;
alter table memory_versions add primary key (id, version);
drop index memory_versions_of_memory;
create unique index memories_place on memories (space, namespace, key, coalesce(project, ''));
create unique index memory_versions_place on memory_versions
    (space, namespace, key, coalesce(project, ''), version);
create table reviews (
    id text collate "C" primary key,
    caller_id text collate "C" not null,       -- key of the reviewer
    session_id text collate "C" not null,      -- gaze session of its evidence
    change json not null,          -- base, head, digest and parts
    repository text collate "C",
    policy text collate "C",                   -- sha256 of the policy in force
    created_at timestamptz(3) not null,
    decided_at timestamptz(3),
    receipt json                   -- once decided: the receipt
  );
create index reviews_of_caller on reviews (caller_id, id);
alter table "spending" add column "beyond_micros" bigint not null default 0;
alter table "spending" add column "forgiven_micros" bigint not null default 0;
alter table "metered_calls" add column "absorbed_micros" bigint not null default 0;
alter table "metered_calls" add column "debt_micros" bigint not null default 0;
alter table "metered_usage" add column "absorbed_micros" bigint not null default 0;
alter table "metered_usage" add column "debt_micros" bigint not null default 0;
alter table allowances add column presumed_at timestamptz(3);
create table rate_windows (
    key_id text collate "C" not null primary key,
    state json not null            -- recent use, and the calls in flight of each process
  );
create table billed_activity (
    upstream text collate "C" not null,
    day text collate "C" not null,
    key text collate "C" not null,
    model text collate "C" not null,
    micros bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    read_at timestamptz(3) not null,
    primary key (upstream, day, key, model)
  );
create table project_places (
    path text collate "C" primary key,         -- real path of the folder
    project text collate "C" not null,         -- name, as in memories
    proposed text collate "C",                 -- another project that it may belong to
    common_dir text collate "C",               -- git's common directory
    root_commit text collate "C",
    remote text collate "C",
    file_id text collate "C",                  -- id in .gazeway/project
    parent text collate "C",                   -- checkout that it is a submodule of
    stamp text collate "C" not null            -- state of .git when these were read
  );
create index "project_places_by_project" on project_places ("project");
create index "project_places_by_common_dir" on project_places ("common_dir");
create index "project_places_by_root_commit" on project_places ("root_commit");
create index "project_places_by_file_id" on project_places ("file_id");
create table seal_keys (
    id text collate "C" primary key,
    secret text collate "C" not null,          -- 32 bytes, base64
    created_at timestamptz(3) not null
  );
create table reasoning_states (
    reference text collate "C" primary key,    -- hash of caller, upstream, model and tool calls
    sealed text collate "C" not null,
    expires_at timestamptz(3) not null
  );
create index reasoning_states_over on reasoning_states (expires_at);
alter table calls add column provider_key text collate "C";
create table model_facts (
    upstream text collate "C" not null,
    model text collate "C" not null,
    name text collate "C" not null,            -- the mend that it needs
    key_id text collate "C" not null,          -- key that met it; empty for tools of the machine
    met_at timestamptz(3) not null,
    primary key (upstream, model, name, key_id)
  );
alter table calls add column changed text collate "C";
alter table keys add column lenient bigint not null default 0;
alter table calls add column "session_id" text collate "C";
alter table calls add column "thread_id" text collate "C";
alter table calls add column "parent_id" text collate "C";
alter table calls add column "turn_id" text collate "C";
alter table calls add column "kind" text collate "C";
alter table calls add column "client" text collate "C";
alter table calls add column "client_version" text collate "C";
create index calls_of_session on calls (session_id, caller_id, at) where session_id is not null;
alter table gaze_sessions add column sketch text collate "C";
alter table tasks add column review json;
alter table reviews add column task_id text collate "C";
alter table keys add column cache text collate "C" not null default 'auto';
alter table "calls" add column "cache_saved_micros" bigint not null default 0;
alter table "calls" add column "cache_missed_tokens" bigint not null default 0;
alter table "calls" add column "cache_missed_micros" bigint not null default 0;
alter table calls add column cache_changed text collate "C";
alter table "call_rollups" add column "cached_tokens" bigint not null default 0;
alter table "call_rollups" add column "cache_write_tokens" bigint not null default 0;
alter table "call_rollups" add column "cache_saved_micros" bigint not null default 0;
alter table "call_rollups" add column "cache_missed_tokens" bigint not null default 0;
alter table "call_rollups" add column "cache_missed_micros" bigint not null default 0;
alter table "call_sums" add column "cached_tokens" bigint not null default 0;
alter table "call_sums" add column "cache_write_tokens" bigint not null default 0;
alter table "call_sums" add column "cache_saved_micros" bigint not null default 0;
alter table "call_sums" add column "cache_missed_tokens" bigint not null default 0;
alter table "call_sums" add column "cache_missed_micros" bigint not null default 0;
create index conversations_owner on conversations (owner, expires_at);
create table coding_sessions (
    caller_id text collate "C" not null,       -- key or wallet; empty for none
    session_id text collate "C" not null,
    client text collate "C",
    client_version text collate "C",
    started_at timestamptz(3) not null,
    last_at timestamptz(3) not null,         -- end of the last call
    "calls" bigint not null default 0, "errors" bigint not null default 0, "refused" bigint not null default 0, "retries" bigint not null default 0, "turns" bigint not null default 0, "prompt_tokens" bigint not null default 0, "completion_tokens" bigint not null default 0, "total_tokens" bigint not null default 0, "upstream_cost_micros" bigint not null default 0, "cached_tokens" bigint not null default 0, "cache_write_tokens" bigint not null default 0, "cache_saved_micros" bigint not null default 0, "cache_missed_tokens" bigint not null default 0, "cache_missed_micros" bigint not null default 0,
    first_turn text collate "C",               -- first and last turn of the newest batch of calls
    last_turn text collate "C",
    primary key (caller_id, session_id)
  );
create index coding_sessions_last on coding_sessions (last_at, session_id, caller_id);
create index coding_sessions_of_caller on coding_sessions (caller_id, last_at, session_id);
create index coding_sessions_cost
    on coding_sessions (upstream_cost_micros, session_id, caller_id);
create index coding_sessions_without_calls on coding_sessions (caller_id, last_at)
    where calls = 0;
create table session_facts (
    caller_id text collate "C" not null,
    session_id text collate "C" not null,
    from_at timestamptz(3) not null,         -- inclusive
    until_at timestamptz(3),                 -- exclusive; null for the present range
    repository text collate "C",
    branch text collate "C",
    commit_sha text collate "C",
    dirty bigint,
    path text collate "C",
    primary key (caller_id, session_id, from_at)
  );
create index session_facts_of_repository
    on session_facts (repository, branch, caller_id, session_id);
create table session_commits (
    caller_id text collate "C" not null,
    session_id text collate "C" not null,
    sha text collate "C" not null,
    at timestamptz(3) not null,
    subject text collate "C",
    repository text collate "C",
    branch text collate "C",
    primary key (caller_id, session_id, sha)
  );
create table call_tags (
    call_id text collate "C" not null,
    tag text collate "C" not null,
    primary key (call_id, tag)
  );
create table session_limits (
    owner text collate "C" primary key,
    micros bigint,
    calls bigint,
    minutes bigint,
    repeat_times bigint,
    repeat_minutes bigint
  );
create table session_states (
    caller_id text collate "C" not null,
    session_id text collate "C" not null,
    started_at timestamptz(3) not null,
    seen_at timestamptz(3) not null,
    calls bigint not null,
    raised_micros bigint not null,
    raised_calls bigint not null,
    raised_minutes bigint not null,
    stopped_at timestamptz(3),
    stopped_by text collate "C",
    changed_at timestamptz(3),
    primary key (caller_id, session_id)
  );
create index session_states_changed on session_states (changed_at) where changed_at is not null;
create index session_states_seen on session_states (seen_at) where stopped_at is null;
alter table allowances add column session text collate "C";
create index coding_sessions_of_client on coding_sessions (client);
create index session_facts_of_branch
    on session_facts (branch, caller_id, session_id);
alter table gaze_prints rename to old_gaze_prints;
alter table gaze_traces rename to old_gaze_traces;
create table gaze_packs (
    session_id text collate "C" not null,
    first_seq bigint not null,    -- positions in the session
    last_seq bigint not null,
    from_at timestamptz(3) not null,         -- the earliest and the latest start of a record
    to_at timestamptz(3) not null,
    body bytea not null,           -- all records
    primary key (session_id, first_seq)
  );
alter table gaze_packs alter column body set storage external;
create index gaze_packs_of_session on gaze_packs (session_id, to_at);
create index gaze_packs_to on gaze_packs (to_at);
create table gaze_stretches (
    number bigint generated by default as identity primary key,
    session_id text collate "C" not null,
    first_seq bigint not null,    -- of the pack
    path text collate "C" not null,            -- '' for records without one
    source text collate "C" not null,
    caller_id text collate "C",                -- its session's
    from_at timestamptz(3) not null,
    to_at timestamptz(3) not null,
    records bigint not null       -- of the pack that have the path and the source
  );
create index "gaze_stretches_of_pack" on gaze_stretches (session_id, first_seq);
create index "gaze_stretches_to" on gaze_stretches (to_at, number);
create index "gaze_stretches_of_session" on gaze_stretches (session_id, to_at, number);
create index "gaze_stretches_of_path" on gaze_stretches (path, to_at, number);
create index "gaze_stretches_of_source" on gaze_stretches (source, to_at, number);
create index "gaze_stretches_of_caller" on gaze_stretches (caller_id, to_at, number);
create index "gaze_stretches_of_caller_path" on gaze_stretches (caller_id, path, to_at, number);
create index "gaze_stretches_of_caller_source" on gaze_stretches (caller_id, source, to_at, number);
create table gaze_prints (
    content bigint not null primary key, -- the negative of shape where the row holds that alone
    shape bigint unique,
    session bigint not null
  );
create table gaze_traces (
    hash bigint not null primary key,
    session bigint not null,
    hour integer not null,            -- since 1970
    steps bytea not null
  );
create index gaze_traces_hour on gaze_traces (hour);
select id, session_id, seq, at, stored_at, source, path, tensor, hash,
      content_hash, shape_hash, tick, copied, caller_id from gaze_records 
      order by session_id, seq limit 500;
select * from
      old_gaze_traces where hash > '' order by hash limit 500;
drop table "gaze_records";
drop table "old_gaze_prints";
drop table "old_gaze_traces";
alter table tasks add column gaze_level text collate "C";
create index calls_with_content on calls (at) where content is not null;
create index tasks_ended on tasks (updated_at)
    where status in ('completed', 'failed', 'cancelled') and title <> '';
create table forgotten (
    id text collate "C" primary key,           -- key or wallet
    at timestamptz(3) not null
  );
drop index "metered_calls_counted";
drop index "metered_calls_of_group";
drop index "metered_calls_of_transfer";
drop index calls_at;
create index calls_at on calls (at);
create table receipt_prices (
    number bigint generated by default as identity primary key,
    price text collate "C" not null unique    -- rates and their source as JSON
  );
alter table metered_calls add column price_number bigint;
alter table coding_sessions add column number bigint generated by default as identity;
alter table coding_sessions drop constraint coding_sessions_pkey;
alter table coding_sessions add primary key (number);
alter table coding_sessions add unique (session_id, caller_id);
alter table coding_sessions add column "first_client" text collate "C";
alter table coding_sessions add column "first_client_version" text collate "C";
alter table calls add column session bigint;
create index calls_of_session_number on calls (session, at) where session is not null;
create table archives (
    month text collate "C" primary key,        -- 2026-11
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,         -- what is booked before is read in files
    folder text collate "C" not null,
    sha256 text collate "C" not null,          -- of the file
    bytes bigint not null,
    seal_at bigint not null,      -- where the seal begins in the file
    seal_sha256 text collate "C" not null,
    transfers bigint not null,
    receipts bigint not null,
    sealed_at timestamptz(3) not null,
    pruned_at timestamptz(3)                 -- null while rows of the month are in the store, too
  );
create function memory_word_hashes(project text, key_text text, tags_text text, also_text text, value_text text)
    returns bigint[] language sql immutable cost 500 as $$
    select array(
      select hashtextextended(coalesce(project, '') || ' +' || word, 0)
        from unnest(string_to_array(key_text || ' ' || tags_text, ' ')) as named (word) where word <> ''
      union all
      select hashtextextended(coalesce(project, '') || ' ' || word, 0)
        from unnest(string_to_array(key_text || ' ' || tags_text || ' ' || also_text || ' ' || value_text, ' ')) as said (word)
        where word <> ''
    )
  $$;
create index memories_project_words on memories
    using gin (memory_word_hashes(project, key_text, tags_text, also_text, value_text))
    with (gin_pending_list_limit = 64);
create index alert_messages_given_up on alert_messages (created_at)
    where next_at is null and error is not null;
create index escrows_of_recipient on escrows (recipient, id) where recipient is not null;
alter table calls add column "queue_ms" bigint;
alter table calls add column "first_byte_ms" bigint;
alter table calls add column "first_thought_ms" bigint;
alter table calls add column "first_text_ms" bigint;
drop index calls_status;
create index calls_status on calls (status, at) where status <> 'ok';
create table matched_receipts (
    id bigint primary key,      -- 1
    until timestamptz(3) not null          -- all calls of before match their receipts
  );
drop index calls_model;
drop index calls_path;
drop table matched_receipts;
create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0);
insert into kysely_migration_lock values ('migration_lock', 0);
insert into kysely_migration values ('001_initial', '2026-11-26');
insert into kysely_migration values ('002_memory_writers', '2026-11-26');
insert into kysely_migration values ('003_skipped_candidates', '2026-11-26');
insert into kysely_migration values ('004_call_addresses', '2026-11-26');
insert into kysely_migration values ('005_charged_calls', '2026-11-26');
insert into kysely_migration values ('006_tasks_of_keys', '2026-11-26');
insert into kysely_migration values ('007_price_origins', '2026-11-26');
insert into kysely_migration values ('010_statements', '2026-11-26');
insert into kysely_migration values ('011_memory_projects', '2026-11-26');
insert into kysely_migration values ('012_reviews', '2026-11-26');
insert into kysely_migration values ('013_debts', '2026-11-26');
insert into kysely_migration values ('014_presumed_allowances', '2026-11-26');
insert into kysely_migration values ('015_rate_windows', '2026-11-26');
insert into kysely_migration values ('016_billed_activity', '2026-11-26');
insert into kysely_migration values ('017_projects', '2026-11-26');
insert into kysely_migration values ('019_reasoning', '2026-11-26');
insert into kysely_migration values ('021_provider_keys', '2026-11-26');
insert into kysely_migration values ('022_facts', '2026-11-26');
insert into kysely_migration values ('023_lenient_keys', '2026-11-26');
insert into kysely_migration values ('024_call_sessions', '2026-11-26');
insert into kysely_migration values ('026_review_terms', '2026-11-26');
insert into kysely_migration values ('027_cache_keys', '2026-11-26');
insert into kysely_migration values ('028_cache_costs', '2026-11-26');
insert into kysely_migration values ('029_kept_responses', '2026-11-26');
insert into kysely_migration values ('030_coding_sessions', '2026-11-26');
insert into kysely_migration values ('031_session_limits', '2026-11-26');
insert into kysely_migration values ('032_listed_sessions', '2026-11-26');
insert into kysely_migration values ('033_gaze_packs', '2026-11-26');
insert into kysely_migration values ('034_gaze_levels', '2026-11-26');
insert into kysely_migration values ('036_retention', '2026-11-26');
insert into kysely_migration values ('037_forgotten', '2026-11-26');
insert into kysely_migration values ('038_lean_indexes', '2026-11-26');
insert into kysely_migration values ('039_shared_words', '2026-11-26');
insert into kysely_migration values ('040_archives', '2026-11-26');
insert into kysely_migration values ('041_project_words', '2026-11-26');
insert into kysely_migration values ('042_project_words_postgres', '2026-11-26');
insert into kysely_migration values ('043_outbox_and_chat_words', '2026-11-26');
insert into kysely_migration values ('044_escrow_recipients', '2026-11-26');
insert into kysely_migration values ('045_call_times', '2026-11-26');
insert into kysely_migration values ('047_failed_calls', '2026-11-26');
insert into kysely_migration values ('048_calls_by_hour', '2026-11-26');
insert into kysely_migration values ('049_matched_receipts', '2026-11-26');
delete from memory_spaces;
insert into memory_spaces (space, key_id, ends_at) values (1, 'key_01a2238907767b0197e715c70d301b8f', null);
delete from memories;
insert into memories (seq, id, space, project, namespace, key, tags, also, bytes, words, embedded, version, created_at, updated_at, expires_at, key_text, tags_text, also_text, value, value_text, lexemes, written_by) values (1, 'mem_01a2238907a37b87ba75253993a4a876', 0, null, 'default', 'deploy/staging', '["deploy"]', '[]', 50, 5, '', 2, '2026-11-28T19:01:52.676Z', '2026-11-28T19:01:52.692Z', null, 'deploy staging', 'deploy', '', '"uses the eu-west cluster"', 'uses the eu west cluster', '''cluster'':3 ''deploy'':1A,2B ''eu'':3 ''staging'':1A ''the'':3 ''uses'':3 ''west'':3', null);
insert into memories (seq, id, space, project, namespace, key, tags, also, bytes, words, embedded, version, created_at, updated_at, expires_at, key_text, tags_text, also_text, value, value_text, lexemes, written_by) values (2, 'mem_01a2238907be75f5b7c0dd22737a6b1a', 1, null, 'default', 'greeting', '[]', '[]', 26, 2, '', 1, '2026-11-28T19:01:52.704Z', '2026-11-28T19:01:52.704Z', null, '·b·greeting', '', '', '{"text":"hello"}', '·b·text ·b·hello', '''·b·greeting'':1A ''·b·hello'':2 ''·b·text'':2', 'key_01a2238907767b0197e715c70d301b8f');
delete from memory_versions;
insert into memory_versions (space, namespace, key, version, id, project, tags, also, created_at, updated_at, expires_at, superseded_by, value, written_by) values (0, 'default', 'deploy/staging', 1, 'mem_01a2238907a37b87ba75253993a4a876', null, '["deploy"]', '[]', '2026-11-28T19:01:52.676Z', '2026-11-28T19:01:52.676Z', null, null, '"uses the us-east cluster"', null);
delete from memory_tags;
insert into memory_tags (seq, tag, space, namespace, updated_at) values (1, 'deploy', 0, 'default', '2026-11-28T19:01:52.692Z');
delete from memory_totals;
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (0, 'default', 5, 1, 50, 5);
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (0, 'default', 10, 0, 0, 0);
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (1, 'default', 1, 1, 26, 2);
delete from memory_words;
insert into memory_words (space, word, stem, ending, memories) values (0, 'cluster', 'cluster', 'retsulc', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'deploy', 'deploy', 'yolped', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'staging', 'stage', 'gnigats', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'the', 'the', '', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'uses', 'use', '', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'eu', 'eu', '', 1);
insert into memory_words (space, word, stem, ending, memories) values (0, 'west', 'west', '', 1);
insert into memory_words (space, word, stem, ending, memories) values (1, 'greeting', 'greet', 'gniteerg', 1);
insert into memory_words (space, word, stem, ending, memories) values (1, 'hello', 'hello', 'olleh', 1);
insert into memory_words (space, word, stem, ending, memories) values (1, 'text', 'text', '', 1);
delete from calls;
insert into calls (call_id, at, surface, caller_id, path, requested_model, model, upstream, stream, status, http_status, fallback_from, latency_ms, latency_bucket, first_token_ms, prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens, usage_estimated, upstream_cost_micros, error, content, skipped, address, price_from, provider_key, changed, session_id, thread_id, parent_id, turn_id, kind, client, client_version, cache_saved_micros, cache_missed_tokens, cache_missed_micros, cache_changed, session, queue_ms, first_byte_ms, first_thought_ms, first_text_ms) values ('call_01a2238907d075da8ca04ab8b01e0559', '2026-11-28T19:01:52.720Z', 'platform', 'key_01a2238907767b0197e715c70d301b8f', '/v1/chat/completions', '', 'llm-4-1-fast-reasoning', 'sandbox', 0, 'ok', 200, null, 2, 14, null, 8, 14, 22, null, null, 0, 66, null, null, null, null, 'fixed', null, null, null, null, null, null, null, null, null, 0, 0, 0, null, null, 4, 2, null, null);
insert into calls (call_id, at, surface, caller_id, path, requested_model, model, upstream, stream, status, http_status, fallback_from, latency_ms, latency_bucket, first_token_ms, prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens, usage_estimated, upstream_cost_micros, error, content, skipped, address, price_from, provider_key, changed, session_id, thread_id, parent_id, turn_id, kind, client, client_version, cache_saved_micros, cache_missed_tokens, cache_missed_micros, cache_changed, session, queue_ms, first_byte_ms, first_thought_ms, first_text_ms) values ('call_01a2238907e27cf1a59f8d6952329a01', '2026-11-28T19:01:52.738Z', 'platform', null, '/v1/chat/completions', '', 'sandbox', 'sandbox', 0, 'ok', 200, null, 1, 0, null, 6, 12, 18, null, null, 0, 0, null, null, null, null, 'free', null, null, null, null, null, null, null, null, null, 0, 0, 0, null, null, 0, 1, null, null);
delete from call_rollups;
insert into call_rollups (hour, model, caller_id, path, status, latency_bucket, calls, prompt_tokens, completion_tokens, total_tokens, upstream_cost_micros, cached_tokens, cache_write_tokens, cache_saved_micros, cache_missed_tokens, cache_missed_micros) values ('2026-11-28T19:00:00.000Z', 'llm-4-1-fast-reasoning', 'key_01a2238907767b0197e715c70d301b8f', '/v1/chat/completions', 'ok', 14, 1, 8, 14, 22, 66, 0, 0, 0, 0, 0);
insert into call_rollups (hour, model, caller_id, path, status, latency_bucket, calls, prompt_tokens, completion_tokens, total_tokens, upstream_cost_micros, cached_tokens, cache_write_tokens, cache_saved_micros, cache_missed_tokens, cache_missed_micros) values ('2026-11-28T19:00:00.000Z', 'sandbox', '', '/v1/chat/completions', 'ok', 0, 1, 6, 12, 18, 0, 0, 0, 0, 0, 0);
delete from call_totals;
insert into call_totals (model, caller_id, path, status, calls) values ('llm-4-1-fast-reasoning', 'key_01a2238907767b0197e715c70d301b8f', '/v1/chat/completions', 'ok', 1);
insert into call_totals (model, caller_id, path, status, calls) values ('sandbox', '', '/v1/chat/completions', 'ok', 1);
delete from keys;
insert into keys (id, name, hash, scopes, group_id, wallet, billing, credit_limit_micros, requests_per_minute, tokens_per_minute, concurrent, models, first, created_at, expires_at, last_used_at, rotated_at, previous_hash, previous_until, revoked_at, lenient, cache) values ('key_01a2238907767b0197e715c70d301b8f', 'shop', '86d92624072b284ad67cdc8458a7c9bf8f302d1e15d68b2e7e6249d6de799ae2', '["inference","platform"]', null, null, 'metered', null, 60, null, null, null, null, '2026-11-28T19:01:52.634Z', null, null, null, null, null, null, 0, 'auto');
insert into keys (id, name, hash, scopes, group_id, wallet, billing, credit_limit_micros, requests_per_minute, tokens_per_minute, concurrent, models, first, created_at, expires_at, last_used_at, rotated_at, previous_hash, previous_until, revoked_at, lenient, cache) values ('key_01a22389077b79f8918a0ca70c00986e', 'agent', '01c9262ed35239a7d38e406300ac8fdebbe1e1a8ec7e4379ed68b1a2602025b9', '["inference","platform"]', null, null, 'metered', null, null, null, null, null, null, '2026-11-28T19:01:52.639Z', null, null, null, null, null, null, 0, 'auto');
delete from ledger_accounts;
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('deposits:key_01a2238907767b0197e715c70d301b8f', 'deposits', 'key_01a2238907767b0197e715c70d301b8f', -10000000, -10000000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('revenue:key_01a2238907767b0197e715c70d301b8f', 'revenue', 'key_01a2238907767b0197e715c70d301b8f', 80000, 80000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('upstream_cost:key_01a2238907767b0197e715c70d301b8f', 'upstream_cost', 'key_01a2238907767b0197e715c70d301b8f', 66, 66, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('held:key_01a2238907767b0197e715c70d301b8f', 'held', 'key_01a2238907767b0197e715c70d301b8f', 0, 0, 1, '2b6a4738d2d018299442e4c1d9bc9b2af5e591479bf73802d8c30dbb689475fc');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('caller:key_01a2238907767b0197e715c70d301b8f', 'caller', 'key_01a2238907767b0197e715c70d301b8f', 7419934, 7419934, 4, '99e4c571785d5c030757c5cdc9797d8200f32a548a193b36515733b3fe380654');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('escrow:esc_01a2238907f176b98c21431f7d3d1d92', 'escrow', 'key_01a2238907767b0197e715c70d301b8f', 2500000, 2500000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
delete from ledger_transfers;
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('deposit:story', 'caller:key_01a2238907767b0197e715c70d301b8f', 1, 'deposit', '[{"account":"caller:key_01a2238907767b0197e715c70d301b8f","micros":10000000,"deposited":10000000},{"account":"deposits:key_01a2238907767b0197e715c70d301b8f","micros":-10000000,"deposited":-10000000}]', null, '2026-11-28T19:01:52.641Z', '86a8d9cee5232c030f7e1fa131c8b80b0e7a406bb389aa047551c39965e53fa8');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('allowance:alw_01a2238907c57994b02113e3ad202054:1', 'caller:key_01a2238907767b0197e715c70d301b8f', 2, 'reserve', '[{"account":"caller:key_01a2238907767b0197e715c70d301b8f","micros":-647464,"deposited":-647464},{"account":"held:key_01a2238907767b0197e715c70d301b8f","micros":647464,"deposited":647464}]', null, '2026-11-28T19:01:52.713Z', '9431425de3fee569dec3c53ac1f48ba6a2d5bde75567ef406c70579c24e2c02a');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('charge:call_01a2238907d37f158b52be4cd726342d:0', 'held:key_01a2238907767b0197e715c70d301b8f', 1, 'charge', '[{"account":"held:key_01a2238907767b0197e715c70d301b8f","micros":-80066,"deposited":-80066},{"account":"revenue:key_01a2238907767b0197e715c70d301b8f","micros":80000,"deposited":80000},{"account":"upstream_cost:key_01a2238907767b0197e715c70d301b8f","micros":66,"deposited":66}]', null, '2026-11-28T19:01:52.718Z', '2b6a4738d2d018299442e4c1d9bc9b2af5e591479bf73802d8c30dbb689475fc');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('allowance:alw_01a2238907c57994b02113e3ad202054:2', 'caller:key_01a2238907767b0197e715c70d301b8f', 3, 'void', '[{"account":"caller:key_01a2238907767b0197e715c70d301b8f","micros":567398,"deposited":567398},{"account":"held:key_01a2238907767b0197e715c70d301b8f","micros":-567398,"deposited":-567398}]', null, '2026-11-28T19:01:52.753Z', 'c33536184b6dc9d910ede8aedfefb0b7d7cf7e453c81fb91fbb81fb8a6e9632a');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('escrow:esc_01a2238907f176b98c21431f7d3d1d92:lock', 'caller:key_01a2238907767b0197e715c70d301b8f', 4, 'lock', '[{"account":"caller:key_01a2238907767b0197e715c70d301b8f","micros":-2500000,"deposited":-2500000},{"account":"escrow:esc_01a2238907f176b98c21431f7d3d1d92","micros":2500000,"deposited":2500000}]', null, '2026-11-28T19:01:52.757Z', '99e4c571785d5c030757c5cdc9797d8200f32a548a193b36515733b3fe380654');
delete from metered_calls;
insert into metered_calls (call_id, caller_id, model, at, path, counted_on, group_id, transfer, margin_micros, upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, upstream_call_id, upstream, price, cached_tokens, cache_write_tokens, cache_write_1h_tokens, charged, capped, stated, absorbed_micros, debt_micros, price_number) values ('call_01a2238907d075da8ca04ab8b01e0559', 'key_01a2238907767b0197e715c70d301b8f', 'llm-4-1-fast-reasoning', '2026-11-28T19:01:52.718Z', '/api/wallet/metered/call', '2026-11-28', null, 'charge:call_01a2238907d37f158b52be4cd726342d:0', 80000, 66, 'pathUSD', 8, 14, 22, 0, 19, 'call_01a2238907d075da8ca04ab8b01e0559', 'sandbox', '', 0, 0, 0, 1, 0, 0, 0, 0, 1);
delete from receipt_prices;
insert into receipt_prices (number, price) values (1, '{"input":3,"output":3,"cached_input":3,"cache_write":3,"cache_write_1h":3,"tier":null,"from":"fixed"}');
delete from metered_usage;
insert into metered_usage (caller_id, day, model, upstream, price, charged, calls, total_tokens, upstream_cost_micros, margin_micros, prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, estimated_calls, capped_calls, stated_calls, absorbed_micros, debt_micros) values ('key_01a2238907767b0197e715c70d301b8f', '2026-11-28', 'llm-4-1-fast-reasoning', 'sandbox', '{"input":3,"output":3,"cached_input":3,"cache_write":3,"cache_write_1h":3,"tier":null,"from":"fixed"}', 1, 1, 22, 66, 80000, 8, 0, 0, 0, 14, 0, 0, 0, 0, 0);
delete from spending;
insert into spending (owner, day, charged_micros, recorded_micros, beyond_micros, forgiven_micros) values ('key_01a2238907767b0197e715c70d301b8f', '2026-11-28', 2580066, 0, 0, 0);
insert into spending (owner, day, charged_micros, recorded_micros, beyond_micros, forgiven_micros) values ('key_01a2238907767b0197e715c70d301b8f', 'total', 2580066, 0, 0, 0);
delete from tasks;
insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by, claim_hash, lease_seconds, lease_expires_at, claimed_at, completed_at, result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id, reward_expires_at, reward_settlement, created_at, updated_at, review, gaze_level) values ('task_01a2238907f176b98c21431eda155888', 'Build the parcel tracker', '', 2500000, '["ts"]', 'completed', 'key_01a2238907767b0197e715c70d301b8f', 'ada', 'key_01a22389077b79f8918a0ca70c00986e', null, 3600, null, '2026-11-28T19:01:52.770Z', '2026-11-28T19:01:52.773Z', '{"commit":"abc"}', 0, '[]', 0, null, 'esc_01a2238907f176b98c21431f7d3d1d92', '2026-11-29T19:01:52.757Z', 'ledger', '2026-11-28T19:01:52.757Z', '2026-11-28T19:01:52.773Z', null, null);
insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by, claim_hash, lease_seconds, lease_expires_at, claimed_at, completed_at, result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id, reward_expires_at, reward_settlement, created_at, updated_at, review, gaze_level) values ('task_01a2238907fb79218e3758e5d61be567', 'Ship the parcel tracker', '', 0, '[]', 'open', 'key_01a2238907767b0197e715c70d301b8f', null, null, null, null, null, null, null, null, 0, '["task_01a2238907f176b98c21431eda155888"]', 0, null, null, null, null, '2026-11-28T19:01:52.766Z', '2026-11-28T19:01:52.773Z', null, null);
delete from task_capabilities;
insert into task_capabilities (task_id, capability, status, agent) values ('task_01a2238907f176b98c21431eda155888', 'ts', 'completed', 'ada');
delete from task_dependencies;
insert into task_dependencies (depends_on, task_id) values ('task_01a2238907f176b98c21431eda155888', 'task_01a2238907fb79218e3758e5d61be567');
delete from task_totals;
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (13, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2500000, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (2, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (15, -1, 1, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
delete from escrows;
insert into escrows (id, task_id, amount_micros, token, payer, recipient, status, counted_on, counted_group, settlement_mode, attestation_id, reason, created_at, expires_at, released_at, settled_at, refunded_at) values ('esc_01a2238907f176b98c21431f7d3d1d92', 'task_01a2238907f176b98c21431eda155888', 2500000, 'pathUSD', 'key_01a2238907767b0197e715c70d301b8f', 'key_01a22389077b79f8918a0ca70c00986e', 'locked', '2026-11-28', null, 'ledger', null, null, '2026-11-28T19:01:52.757Z', '2026-11-29T19:01:52.757Z', null, null, null);
delete from rate_windows;
insert into rate_windows (key_id, state) values ('key_01a2238907767b0197e715c70d301b8f', '{"at":1795892512719,"n":1,"uses":[{"n":1,"from":1795892512719,"until":1795892513019,"requests":1,"tokens":0}],"holders":{"899bba70-d98d-4976-afbb-5483adad7384":{"turn":1,"places":0,"tokens":0,"at":1795892512719}},"answer":null}');
delete from settings_revision;
insert into settings_revision (id, revision) values (1, 0);
select setval(pg_get_serial_sequence('coding_sessions', 'number'), (select coalesce(max(number), 0) + 1 from coding_sessions), false);
select setval(pg_get_serial_sequence('gaze_stretches', 'number'), (select coalesce(max(number), 0) + 1 from gaze_stretches), false);
select setval(pg_get_serial_sequence('memories', 'seq'), (select coalesce(max(seq), 0) + 1 from memories), false);
select setval(pg_get_serial_sequence('memory_spaces', 'space'), (select coalesce(max(space), 0) + 1 from memory_spaces), false);
select setval(pg_get_serial_sequence('memory_vectors', 'place'), (select coalesce(max(place), 0) + 1 from memory_vectors), false);
select setval(pg_get_serial_sequence('receipt_prices', 'number'), (select coalesce(max(number), 0) + 1 from receipt_prices), false);
select setval(pg_get_serial_sequence('session_texts', 'seq'), (select coalesce(max(seq), 0) + 1 from session_texts), false);
