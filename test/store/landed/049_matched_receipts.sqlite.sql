create table sweeps (
    name text not null primary key,
    next_at text not null
  );
create table settings (
    path text not null primary key, -- dotted configuration key; of a record, all of it
    value text not null,            -- null is the default, whatever config.json says
    updated_at text not null
  );
create table settings_revision (
    id integer not null primary key,
    revision integer not null
  );
insert into settings_revision (id, revision) values (1, 0);
create table keys (
    id text not null primary key,
    name text not null,
    hash text not null,        -- SHA-256 of the whole token, hex
    scopes text not null,
    group_id text,             -- whose budgets bind it too
    wallet text,               -- address whose balance the key shares
    billing text not null,     -- recorded, cost or metered
    credit_limit_micros integer,
    requests_per_minute integer,
    tokens_per_minute integer,
    concurrent integer,        -- calls at a time
    models text,               -- globs of the models that it may ask; null is all
    first integer unique,      -- 1 for the key made at the first start, else null: there is one at most
    created_at text not null,
    expires_at text,
    last_used_at text,
    rotated_at text,
    previous_hash text,        -- of the token before the last rotation
    previous_until text,       -- when that token stops working
    revoked_at text
  );
create index keys_revoked on keys (revoked_at) where revoked_at is not null;
create index keys_expiry on keys (expires_at) where expires_at is not null;
create index keys_wallet on keys (wallet) where wallet is not null;
create index keys_of_group on keys (group_id) where group_id is not null and revoked_at is null;
create table budgets (
    owner text not null,       -- id of the key or group
    per text not null,         -- day, week, month or total
    micros integer not null,
    primary key (owner, per)
  ) without rowid;
create table alerts (
    owner text not null,       -- id of the key or group
    percent integer not null,
    primary key (owner, percent)
  ) without rowid;
create table key_groups (
    id text not null primary key,
    name text not null unique,
    created_at text not null
  );
create table idempotency_keys (
    scope text not null,        -- the caller
    key text not null,
    fingerprint text not null,  -- SHA-256 of route and body
    attempt text not null,      -- id of the run that owns the row
    in_flight_until text,       -- while it runs, then null
    status integer,             -- HTTP status of the reply
    headers text,               -- JSON, as it was
    body text,                  -- as it was; null where it is not kept
    expires_at text not null,
    primary key (scope, key)
  );
create index idempotency_keys_expiry on idempotency_keys (expires_at);
create table calls (
    call_id text primary key,
    at text not null,                    -- when it began
    surface text not null,               -- stdio, http, platform or socket
    caller_id text,
    path text not null,                  -- on the upstream
    requested_model text,
    model text,                          -- that the upstream was asked for
    upstream text not null,
    stream integer not null,             -- 0 or 1
    status text not null,                -- ok, error, aborted or refused
    http_status integer,
    fallback_from text,                  -- id of the call whose failure led to this one
    latency_ms integer not null,
    latency_bucket integer not null,     -- see src/calls/latency-buckets.ts
    first_token_ms integer,
    prompt_tokens integer,               -- tokens are null where no usage is known
    completion_tokens integer,
    total_tokens integer,
    cached_tokens integer,               -- of the prompt, from the provider's cache; null for none
    cache_write_tokens integer,          -- of the prompt, put into that cache; null for none
    usage_estimated integer not null,    -- 0 or 1
    upstream_cost_micros integer not null,
    error text,
    content text                         -- JSON; only where audit.store_content is set
  );
create index calls_at on calls (at, call_id);
create index calls_status on calls (status, at);
create index calls_model on calls (model, at);
create index calls_path on calls (path, at);
create index calls_caller_id on calls (caller_id, at);
create index calls_fallback on calls (at) where fallback_from is not null;
create table call_rollups (
    hour text not null,
    model text not null,
    caller_id text not null,
    path text not null,
    status text not null,
    latency_bucket integer not null,
    calls integer not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    total_tokens integer not null,
    upstream_cost_micros integer not null,
    primary key (hour, model, caller_id, path, status, latency_bucket)
  );
create table call_sums (
    level text not null,      -- hour, or hour_of_all, day_of_all, day_of_caller, which leave dimensions empty
    start text not null,      -- of the hour or day
    caller_id text not null,
    model text not null,
    path text not null,
    status text not null,
    calls integer not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    total_tokens integer not null,
    upstream_cost_micros integer not null,
    latencies text not null,  -- JSON list of each latency bucket and its calls
    primary key (level, start, caller_id, model, path, status)
  ) without rowid;
create index call_sums_of_caller on call_sums (level, caller_id, start);
create table call_totals (
    model text not null,
    caller_id text not null,
    path text not null,
    status text not null,
    calls integer not null,
    primary key (model, caller_id, path, status)
  );
create table upstream_objects (
    id text not null,
    caller_id text not null,
    upstream text not null,
    at text not null,
    primary key (id, caller_id)
  );
create index upstream_objects_at on upstream_objects (at);
create table ledger_accounts (
    id text not null primary key,     -- KIND:OWNER, or escrow:ESCROW
    kind text not null,               -- see AccountKind
    owner text not null,              -- id of the caller whose money it is
    balance_micros integer not null,  -- below 0 by the credit used
    deposited_micros integer not null, -- the part that comes from deposits; above a balance that credit has lowered
    transfers integer not null,       -- in its hash chain
    head text not null                -- hash of the last of them
  );
create index ledger_accounts_owner on ledger_accounts (owner);
create index ledger_accounts_locked on ledger_accounts (kind, balance_micros)
    where kind in ('escrow', 'settling') and balance_micros > 0;
create table ledger_transfers (
    key text not null unique,  -- idempotency key
    chain text not null,       -- id of its first account
    position integer not null, -- in the chain, from 1
    kind text not null,        -- see TransferKind
    entries text not null,     -- signed amounts by account; their sum is 0
    memo text,
    at text not null,
    hash text not null,        -- over all of this and the hash before
    primary key (chain, position)
  ) without rowid;
create table metered_calls (
    call_id text not null primary key,
    caller_id text not null,
    model text not null,
    status text not null,              -- held, captured or voided
    at text not null,
    deadline text not null,            -- a hold that is older is given back
    path text not null,                -- endpoint that was asked: /api/wallet/metered/call or one below /v1
    counted_on text not null,          -- UTC day of `spending` that it is counted on
    group_id text,                     -- group whose spending it counts as, too
    transfer text,                     -- key of the ledger transfer that took its money; null where none was
    held_micros integer not null,      -- the worst case
    margin_micros integer not null,
    upstream_cost_micros integer not null,
    token text not null,               -- what it is paid in
    prompt_tokens integer not null,
    completion_tokens integer not null,
    total_tokens integer not null,
    usage_estimated integer not null,  -- 0 or 1
    latency_ms integer not null,
    upstream_call_id text,             -- of its record in calls
    idempotency_key text,              -- cleared with content once it has expired
    fingerprint text,                  -- SHA-256 of the request that the key stands for
    content text                       -- the answer as JSON, for who repeats the request
  ) without rowid;
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
    caller_id text not null,
    day text not null,       -- 2026-11-21
    model text not null,
    calls integer not null,
    total_tokens integer not null,
    upstream_cost_micros integer not null,
    margin_micros integer not null,
    primary key (caller_id, day, model)
  ) without rowid;
create table spending (
    owner text not null,
    day text not null,                 -- 2026-11-21, or total
    charged_micros integer not null,   -- of charged calls, reserved ones too, and of escrows
    recorded_micros integer not null,  -- of calls whose cost is recorded and not charged
    primary key (owner, day)
  ) without rowid;
create table allowances (
    id text not null primary key,
    holder text not null,              -- the process
    key_id text not null,
    group_id text,
    day text not null,                 -- UTC day of the calls that it is for
    charged integer not null,          -- 0, or 1 where `micros` of the ledger's held:KEY belong to it
    micros integer not null,           -- reserved and not yet in `spending`
    turn integer not null,             -- number of its last change by its holder
    granted integer not null,          -- what that change added
    renewed_at text not null           -- a process that is gone renews nothing: its allowances are given back
  );
create index allowances_of_key on allowances (key_id, day);
create index allowances_of_group on allowances (group_id, day) where group_id is not null;
create index allowances_of_holder on allowances (holder);
create index allowances_renewed on allowances (renewed_at);
create table alert_messages (
    id text not null primary key,   -- its webhook-id
    owner text not null,            -- id of the key or group
    per text not null,
    period text not null,           -- first UTC day of the period, or total
    percent integer not null,
    body text not null,             -- JSON, the same in each attempt
    created_at text not null,
    next_at text,                   -- of the next attempt; null once it is delivered or given up
    attempts integer not null,
    delivered_at text,
    error text,                     -- of the last attempt
    unique (owner, per, period, percent)
  );
create index alert_messages_due on alert_messages (next_at) where next_at is not null;
create index alert_messages_done on alert_messages (created_at) where next_at is null;
create table memory_spaces (
      space integer primary key autoincrement,
      key_id text not null unique,
      ends_at text                  -- when the memories of a revoked key are deleted
    );
create index memory_spaces_end on memory_spaces (ends_at) where ends_at is not null;
create table memories (
      seq integer primary key autoincrement,
      id text not null unique,
      space integer not null,
      project text,                 -- folder that it belongs to; null for none
      namespace text not null,
      key text not null,
      tags text not null,           -- JSON
      also text not null,           -- JSON; words that others may ask with
      bytes integer not null,       -- counted in memory_totals, as words is
      words integer not null,       -- of the value
      embedded text not null,       -- what its vector was made with; empty: it has none
      version integer not null,
      created_at text not null,
      updated_at text not null,
      expires_at text,
      key_text text not null,       -- words for the index; see src/memory/indexed-words.ts
      tags_text text not null,
      also_text text not null,
      -- Last: what stands after long values is looked for in all their pages.
      value text not null,          -- JSON exactly as it was stored: key order, numbers, \u0000
      value_text text not null,
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
      seq integer not null,         -- of the memory
      tag text not null,
      space integer not null,
      namespace text not null,
      updated_at text not null,
      primary key (seq, tag)
    );
create index memory_tags_recent on memory_tags (space, tag, updated_at, seq, namespace);
create table memory_versions (
      space integer not null,
      namespace text not null,
      key text not null,
      version integer not null,
      id text not null,
      project text,
      tags text not null,
      also text not null,
      created_at text not null,
      updated_at text not null,
      expires_at text,
      superseded_by text,           -- key
      value text not null,
      primary key (space, namespace, key, version)
    );
create index memory_versions_of_memory on memory_versions (id);
create index memory_versions_expiry on memory_versions (expires_at) where expires_at is not null;
create table memory_totals (
      space integer not null,
      namespace text not null,
      shard integer not null,
      memories integer not null,
      bytes integer not null,
      words integer not null,
      primary key (space, namespace, shard)
    );
create table memory_vectors (
      place integer primary key autoincrement,
      seq integer not null unique,  -- of the memory
      space integer not null,
      source text not null,         -- upstream, model, prefix and length
      signs text not null,          -- base64; see src/memory/quantized.ts
      vector text not null
    );
create index memory_vectors_of_source on memory_vectors (space, source, place);
create table memory_words (
      space integer not null,
      word text not null,
      stem text not null,           -- which words that inflect alike share
      ending text not null,         -- the word backwards; empty where nobody looks for words by how they end
      memories integer not null,
      primary key (space, word)
    );
create index memory_words_stems on memory_words (space, stem);
create index memory_words_endings on memory_words (space, ending) where ending <> '';
create virtual table memories_text using fts5(
    key_text, value_text, tags_text, also_text, namespace, content='memories', content_rowid='seq', tokenize='ascii'
  );
create trigger memories_text_added after insert on memories begin
    insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
      values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
  end;
create trigger memories_text_removed after delete on memories begin
    insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
      values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
  end;
create trigger memories_text_changed after update of namespace, key_text, value_text, tags_text, also_text
    on memories begin
    insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
      values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
    insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
      values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
  end;
create table gaze_sessions (
    session_id text primary key,
    task_id text,
    caller_id text,
    records integer not null,    -- that it ever had
    pruned integer not null,     -- of them, how many are deleted
    chain_head text not null,    -- hash of the last record
    last_place text,             -- path and lines of the last record
    created_at text not null,
    updated_at text not null
  );
create index gaze_sessions_updated on gaze_sessions (updated_at, session_id);
create index gaze_sessions_caller_updated on gaze_sessions (caller_id, updated_at, session_id)
    where caller_id is not null;
create index gaze_sessions_task on gaze_sessions (task_id, updated_at) where task_id is not null;
create table gaze_records (
    id text primary key,
    session_id text not null,
    seq integer not null,          -- in the session, from 1
    task_id text,
    caller_id text,                -- its session's
    at text not null,              -- when it began, by the client's clock
    stored_at text not null,
    dwell_ms integer not null,
    source text not null,
    confidence real,               -- null where the source states none
    x real,                        -- these and path repeat what of the tensor is searched and scored
    y real,
    path text,
    tensor text not null,          -- the whole record
    hash text not null,            -- over it and the hash before, in the session's chain
    content_hash text not null,    -- of the record alone
    shape_hash text,               -- of it and those before it, without their times; null where too few come before
    tick integer,                  -- Unix ms by which it is assessed; null for a raw sample beside another one
    copied integer not null,       -- 1 when another session had its content, shape or trace before
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
    hash text not null primary key,
    session_id text not null
  );
create table gaze_traces (
    hash text not null primary key,
    session_id text not null,
    at text not null,              -- when it began
    steps text not null
  );
create index gaze_traces_at on gaze_traces (at);
create table gaze_dwell (
    hour text not null,
    path text not null,
    line_start integer not null,   -- lines are 0 where the records name none
    line_end integer not null,
    dwell_ms integer not null,
    visits integer not null,
    last_seen_at text not null,
    primary key (hour, path, line_start, line_end)
  );
create table attestations (
    id text primary key,
    session_id text not null,
    task_id text,
    status text not null,          -- collecting, passed or failed
    poa_score real not null,       -- proof of attention, 0 to 1
    issued_at text not null,
    expires_at text not null,
    body text not null             -- all of it
  );
create index attestations_of_session on attestations (session_id, issued_at, id);
create table attestation_uses (
    attestation_id text not null primary key,
    session_id text,
    records integer,               -- of the session, from its first, that are used up with it
    used_by text not null,
    used_at text not null
  );
create index attestation_uses_of_session on attestation_uses (session_id, records);
create table sessions (
      id text not null primary key,
      user_id text not null,
      source text not null,
      title text,
      model text,                    -- null where the configured chat model answers
      started_at text not null,
      last_active_at text not null,
      ended_at text,
      end_reason text,
      parent_session_id text,        -- that it goes on from
      message_count integer not null,
      tool_call_count integer not null,
      input_tokens integer not null,
      output_tokens integer not null,
      cost_micros integer not null,
      preview text not null          -- how the first message begins
    );
create index sessions_recent on sessions (last_active_at, id);
create index sessions_recent_of_user on sessions (user_id, last_active_at, id);
create index sessions_recent_of_source on sessions (source, last_active_at, id);
create index sessions_recent_of_both on sessions (user_id, source, last_active_at, id);
create table session_messages (
      session_id text not null,
      position integer not null,     -- from 1; question and answer follow each other
      id text not null,
      role text not null,
      name text,
      content text not null,
      at text not null,
      tensor text,                   -- attention at the time of an answer
      poa_score real,                -- proof of attention at the time of an answer, 0 to 1
      token_count integer not null,
      call_id text,                  -- that gave the answer
      primary key (session_id, position)
    );
create table session_texts (
      seq integer primary key autoincrement,
      session_id text not null,
      user_id text not null,
      position integer not null,     -- of the question; 0 for the title
      words_text text not null       -- see src/text/words.ts
    );
create index session_texts_of_session on session_texts (session_id, position);
create table session_totals (
      user_id text not null,
      source text not null,
      sessions integer not null,
      primary key (user_id, source)
    );
create virtual table session_words using fts5(
    words_text, user_id, content='session_texts', content_rowid='seq',
    tokenize='ascii', prefix='2 3 4'
  );
create trigger session_words_added after insert on session_texts begin
    insert into session_words (rowid, words_text, user_id) values (new.seq, new.words_text, new.user_id);
  end;
create trigger session_words_removed after delete on session_texts begin
    insert into session_words (session_words, rowid, words_text, user_id)
      values ('delete', old.seq, old.words_text, old.user_id);
  end;
create trigger session_words_changed after update of words_text on session_texts begin
    insert into session_words (session_words, rowid, words_text, user_id)
      values ('delete', old.seq, old.words_text, old.user_id);
    insert into session_words (rowid, words_text, user_id) values (new.seq, new.words_text, new.user_id);
  end;
create table conversations (
    id text not null primary key,
    owner text not null,        -- id of a key; empty for the person whose machine it is
    turns integer not null,
    bytes integer not null,     -- of all messages, as JSON
    expires_at text not null    -- 24 h after the last turn
  );
create index conversations_expiry on conversations (expires_at);
create table conversation_turns (
    conversation_id text not null,
    turn integer not null,      -- from 1
    messages text not null,     -- JSON, a list of chat messages
    primary key (conversation_id, turn)
  );
create table settlements (
    id text not null primary key,
    recipient text not null,
    micros integer not null,
    chain_id integer not null,
    token text not null,           -- address
    status text not null,          -- pending, submitted once a transaction is signed, confirmed, failed if it is refused
    nonce integer,                 -- of the account's transaction that pays it
    tx_hash text,                  -- of the transaction signed last, or mined
    block_number integer,
    attempts integer not null,
    error text,
    next_at text not null,         -- when it is looked at next
    created_at text not null,
    updated_at text not null
  );
create index settlements_due on settlements (chain_id, next_at) where status in ('pending', 'failed');
create table withdrawals (
    id text not null primary key,
    caller_id text not null,
    recipient text not null,
    amount_micros integer not null,
    token text not null,           -- that it is paid in
    created_at text not null,
    settled_at text                -- when the chain had paid it
  );
create table chain_accounts (
    chain_id integer not null,
    address text not null,
    next_nonce integer not null,
    tender text,                   -- process that tends its transactions
    tended_until text not null,    -- end of its lease
    primary key (chain_id, address)
  );
create table chain_transactions (
    chain_id integer not null,
    address text not null,
    nonce integer not null,
    purpose text not null,         -- settlement:ID or payment:NONCE
    status text not null,          -- sent, final, reverted, or lost to a transaction signed elsewhere
    to_address text not null,
    data text not null,
    gas integer not null,
    max_fee integer not null,      -- in wei, as priority_fee; the gas price of a legacy transaction
    priority_fee integer,          -- null for a legacy transaction
    raw text not null,             -- signed bytes of the highest fee, which are sent
    hashes text not null,          -- of all that was signed, the newest last
    block_number integer,          -- that one of them is in, as far as is known
    signed_at text not null,
    created_at text not null,
    primary key (chain_id, address, nonce)
  );
create index chain_transactions_open on chain_transactions (chain_id, address, nonce) where status = 'sent';
create index chain_transactions_signed on chain_transactions (chain_id, address, signed_at);
create index chain_transactions_purpose on chain_transactions (purpose);
create table payments (
    id text not null primary key,  -- of the challenge that it answers
    method text not null,
    payer text not null,
    account text not null,         -- that it is credited to; without account_named, that it had when it was taken
    amount_micros integer not null,
    scope text not null,           -- what it pays for
    proof text not null,           -- known before there is a transaction: nonce of an authorization, hash of a signed transaction
    reference text,                -- transaction that settled it
    status text not null,
    lease_until text,              -- while there is something left to do with it
    created_at text not null,
    expires_at text not null,
    account_named integer not null default 1 -- 0: the account is found at the moment of the credit
  );
create unique index payments_settled on payments (method, payer, proof) where reference is not null;
create index payments_unfinished on payments (lease_until) where lease_until is not null;
create table escrows (
    id text not null primary key,
    task_id text not null,
    amount_micros integer not null,
    token text not null,           -- what it is paid in
    payer text not null,           -- caller
    recipient text,                -- key or address
    status text not null,          -- see ESCROW_STATUSES; a locked one after expires_at counts as expired
    counted_on text not null,      -- UTC day of `spending` that it is counted on
    counted_group text,            -- group whose spending it counts as, too
    settlement_mode text not null, -- ledger, or evm for a chain
    attestation_id text,           -- that it was released with
    reason text,                   -- of a refund
    created_at text not null,
    expires_at text not null,
    released_at text,
    settled_at text,
    refunded_at text
  );
create unique index escrow_of_task on escrows (task_id) where status <> 'refunded';
create index escrows_of_task on escrows (task_id, id);
create index escrows_by_status on escrows (status, id);
create index escrows_expiring on escrows (status, expires_at);
create index escrows_of_payer on escrows (payer, amount_micros) where status in ('locked', 'expired');
create index escrows_counted on escrows (payer, counted_on);
create index escrows_of_group on escrows (counted_group, counted_on) where counted_group is not null;
create table tasks (
    id text not null primary key,
    title text not null,
    description text not null,
    reward_micros integer not null,
    capabilities text not null,
    status text not null,          -- see TASK_STATUSES
    creator text not null,         -- key
    agent text,                    -- name that the agent of claimed_by gave itself
    claimed_by text,               -- key
    claim_hash text,               -- SHA-256 of the live claim's token
    lease_seconds integer,
    lease_expires_at text,         -- a claimed task counts as open after it
    claimed_at text,
    completed_at text,
    result text,
    gaze_required integer not null, -- 0 or 1
    depends_on text not null,      -- ids of tasks
    waiting_on integer not null,   -- how many of them are not completed
    swarm_id text,
    escrow_id text,
    reward_expires_at text,        -- nobody can claim it after that
    reward_settlement text,        -- its escrow's settlement_mode
    created_at text not null,
    updated_at text not null
  );
create index tasks_by_status on tasks (status, id);
create index tasks_of_agent on tasks (agent, id) where agent is not null;
create index tasks_of_agent_by_status on tasks (agent, status, id) where agent is not null;
create index tasks_of_swarm on tasks (swarm_id, id) where swarm_id is not null;
create index tasks_leased on tasks (lease_expires_at) where lease_expires_at is not null;
create table swarms (
    id text not null primary key,
    goal text not null,
    creator text not null,         -- key
    created_at text not null
  );
create table task_capabilities (
    task_id text not null,
    capability text not null,
    status text not null,          -- the task's, as agent
    agent text,
    primary key (task_id, capability)
  );
create index tasks_with_capability on task_capabilities (capability, task_id);
create index tasks_with_capability_by_status on task_capabilities (capability, status, task_id);
create index tasks_of_agent_with_capability on task_capabilities (agent, capability, task_id)
    where agent is not null;
create index tasks_of_agent_with_capability_by_status
    on task_capabilities (agent, capability, status, task_id) where agent is not null;
create table task_dependencies (
    depends_on text not null,
    task_id text not null,
    primary key (depends_on, task_id)
  );
create table task_totals (
    shard integer not null primary key,
    blocked integer not null,
    open integer not null,
    claimed integer not null,
    completed integer not null,
    failed integer not null,
    cancelled integer not null,
    escrow_locked integer not null,
    escrow_released integer not null,
    escrow_settled integer not null,
    escrow_expired integer not null,
    escrow_refunded integer not null,
    locked_micros integer not null,
    paid_micros integer not null,
    refunded_micros integer not null
  );
create table connections (
    id text not null primary key,
    instance text not null,        -- process that serves it
    key_id text not null,
    user_name text not null,
    role text not null,
    session_id text not null,
    remote text not null,          -- address of the client
    messages integer not null,
    connected_at text not null,
    last_active_at text not null,
    closing_at text                -- when its closing was asked for; instance does it
  );
create index connections_instance on connections (instance);
create index connections_key on connections (key_id, id);
create index connections_closing on connections (instance) where closing_at is not null;
create table connection_instances (
    id text not null primary key,
    alive_until text not null
  );
create index connection_instances_alive on connection_instances (alive_until);
create table connection_tickets (
    id text not null primary key,  -- of the connection that it opens
    hash text not null unique,     -- SHA-256 of it, hex; with the fixed key where that made it
    key_id text not null,          -- key that made it
    user_name text not null,
    role text not null,
    expires_at text not null
  );
create index connection_tickets_expiry on connection_tickets (expires_at);
alter table "memories" add column written_by text;
update "memories" set written_by =
      (select key_id from memory_spaces where memory_spaces.space = "memories".space) where space <> 0;
alter table "memory_versions" add column written_by text;
update "memory_versions" set written_by =
      (select key_id from memory_spaces where memory_spaces.space = "memory_versions".space) where space <> 0;
alter table calls add column skipped text;
alter table calls add column address text;

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
alter table calls add column price_from text;
alter table metered_calls add column upstream text not null default '';
alter table metered_calls add column price text not null default '';
alter table metered_calls add column cached_tokens integer not null default 0;
alter table metered_calls add column cache_write_tokens integer not null default 0;
alter table metered_calls add column cache_write_1h_tokens integer not null default 0;
alter table metered_calls add column charged integer not null default 1;
alter table metered_calls add column capped integer not null default 0;
alter table metered_calls add column stated integer not null default 0;
alter table metered_usage rename to metered_usage_before;
create table metered_usage (
    caller_id text not null,
    day text not null,
    model text not null,
    upstream text not null default '',
    price text not null default '',
    charged integer not null default 1,
    calls integer not null,
    total_tokens integer not null,
    upstream_cost_micros integer not null,
    margin_micros integer not null,
    prompt_tokens integer not null default 0,
    cached_tokens integer not null default 0,
    cache_write_tokens integer not null default 0,
    cache_write_1h_tokens integer not null default 0,
    completion_tokens integer not null default 0,
    estimated_calls integer not null default 0,
    capped_calls integer not null default 0,
    stated_calls integer not null default 0,
    primary key (caller_id, day, model, upstream, price, charged)
  );

    insert into metered_usage (caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros,
      prompt_tokens, completion_tokens, estimated_calls)
    select u.caller_id, u.day, u.model, u.calls, u.total_tokens, u.upstream_cost_micros, u.margin_micros,
      coalesce(r.prompt_tokens, 0), coalesce(r.completion_tokens, 0), coalesce(r.estimated_calls, 0)
    from metered_usage_before as u left join (
      select caller_id, substr("at", 1, 10) as day, model, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(usage_estimated) as estimated_calls
      from metered_calls group by 1, 2, 3) as r
      on r.caller_id = u.caller_id and r.day = u.day and r.model = u.model;
drop table metered_usage_before;
create index metered_usage_of_day on metered_usage (day);
create table closed_periods (
    period text not null primary key,
    starts_at text not null,
    ends_at text not null,
    closed_at text not null,
    closed_by text not null,
    ledger_head text
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
create table "memories_rebuilt" ("seq" integer primary key autoincrement, "id" text not null unique, "space" integer not null, "project" text, "namespace" text not null, "key" text not null, "tags" text not null, "also" text not null, "bytes" integer not null, "words" integer not null, "embedded" text not null, "written_by" text, "version" integer not null, "created_at" text not null, "updated_at" text not null, "expires_at" text, "key_text" text not null, "tags_text" text not null, "also_text" text not null, "value" text not null, "value_text" text not null);
insert into "memories_rebuilt" ("seq", "id", "space", "project", "namespace", "key", "tags", "also", "bytes", "words", "embedded", "written_by", "version", "created_at", "updated_at", "expires_at", "key_text", "tags_text", "also_text", "value", "value_text") select "seq", "id", "space", "project", "namespace", "key", "tags", "also", "bytes", "words", "embedded", "written_by", "version", "created_at", "updated_at", "expires_at", "key_text", "tags_text", "also_text", "value", "value_text" from "memories";
update sqlite_sequence set seq = (select seq from sqlite_sequence where name = 'memories')
    where name = 'memories_rebuilt';
drop table "memories";
alter table "memories_rebuilt" rename to "memories";
create index memories_in_space on memories (space, seq);
create index memories_recent on memories (space, updated_at, seq);
create index memories_recent_in_namespace on memories (space, namespace, updated_at, seq);
create index memories_recent_in_project on memories (space, project, updated_at, seq);
create index memories_embedded on memories (embedded, seq);
create index memories_expiry on memories (expires_at) where expires_at is not null;
create index memories_expiry_in_namespace on memories (space, namespace, expires_at)
      where expires_at is not null;
create trigger memories_text_added after insert on memories begin
      insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
        values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
    end;
create trigger memories_text_removed after delete on memories begin
      insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
        values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
    end;
create trigger memories_text_changed after update of namespace, key_text, value_text, tags_text, also_text
      on memories begin
      insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
        values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
      insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
        values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
    end;
create table "memory_versions_rebuilt" ("id" text not null, "version" integer not null, "space" integer not null, "project" text, "namespace" text not null, "key" text not null, "tags" text not null, "also" text not null, "written_by" text, "created_at" text not null, "updated_at" text not null, "expires_at" text, "superseded_by" text, "value" text not null, primary key (id, version));
insert into "memory_versions_rebuilt" ("id", "version", "space", "project", "namespace", "key", "tags", "also", "written_by", "created_at", "updated_at", "expires_at", "superseded_by", "value") select "id", "version", "space", "project", "namespace", "key", "tags", "also", "written_by", "created_at", "updated_at", "expires_at", "superseded_by", "value" from "memory_versions";
update sqlite_sequence set seq = (select seq from sqlite_sequence where name = 'memory_versions')
    where name = 'memory_versions_rebuilt';
drop table "memory_versions";
alter table "memory_versions_rebuilt" rename to "memory_versions";
create index memory_versions_expiry on memory_versions (expires_at) where expires_at is not null;
create unique index memories_place on memories (space, namespace, key, coalesce(project, ''));
create unique index memory_versions_place on memory_versions
    (space, namespace, key, coalesce(project, ''), version);
create table reviews (
    id text primary key,
    caller_id text not null,       -- key of the reviewer
    session_id text not null,      -- gaze session of its evidence
    change text not null,          -- base, head, digest and parts
    repository text,
    policy text,                   -- sha256 of the policy in force
    created_at text not null,
    decided_at text,
    receipt text                   -- once decided: the receipt
  );
create index reviews_of_caller on reviews (caller_id, id);
alter table "spending" add column "beyond_micros" integer not null default 0;
alter table "spending" add column "forgiven_micros" integer not null default 0;
alter table "metered_calls" add column "absorbed_micros" integer not null default 0;
alter table "metered_calls" add column "debt_micros" integer not null default 0;
alter table "metered_usage" add column "absorbed_micros" integer not null default 0;
alter table "metered_usage" add column "debt_micros" integer not null default 0;
alter table allowances add column presumed_at text;
create table rate_windows (
    key_id text not null primary key,
    state text not null            -- recent use, and the calls in flight of each process
  );
create table billed_activity (
    upstream text not null,
    day text not null,
    key text not null,
    model text not null,
    micros integer not null,
    requests integer not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    read_at text not null,
    primary key (upstream, day, key, model)
  );
create table project_places (
    path text primary key,         -- real path of the folder
    project text not null,         -- name, as in memories
    proposed text,                 -- another project that it may belong to
    common_dir text,               -- git's common directory
    root_commit text,
    remote text,
    file_id text,                  -- id in .gazeway/project
    parent text,                   -- checkout that it is a submodule of
    stamp text not null            -- state of .git when these were read
  );
create index "project_places_by_project" on project_places ("project");
create index "project_places_by_common_dir" on project_places ("common_dir");
create index "project_places_by_root_commit" on project_places ("root_commit");
create index "project_places_by_file_id" on project_places ("file_id");
create table seal_keys (
    id text primary key,
    secret text not null,          -- 32 bytes, base64
    created_at text not null
  );
create table reasoning_states (
    reference text primary key,    -- hash of caller, upstream, model and tool calls
    sealed text not null,
    expires_at text not null
  );
create index reasoning_states_over on reasoning_states (expires_at);
alter table calls add column provider_key text;
create table model_facts (
    upstream text not null,
    model text not null,
    name text not null,            -- the mend that it needs
    key_id text not null,          -- key that met it; empty for tools of the machine
    met_at text not null,
    primary key (upstream, model, name, key_id)
  );
alter table calls add column changed text;
alter table keys add column lenient integer not null default 0;
alter table calls add column "session_id" text;
alter table calls add column "thread_id" text;
alter table calls add column "parent_id" text;
alter table calls add column "turn_id" text;
alter table calls add column "kind" text;
alter table calls add column "client" text;
alter table calls add column "client_version" text;
create index calls_of_session on calls (session_id, caller_id, at) where session_id is not null;
alter table gaze_sessions add column sketch text;
alter table tasks add column review text;
alter table reviews add column task_id text;
alter table keys add column cache text not null default 'auto';
alter table "calls" add column "cache_saved_micros" integer not null default 0;
alter table "calls" add column "cache_missed_tokens" integer not null default 0;
alter table "calls" add column "cache_missed_micros" integer not null default 0;
alter table calls add column cache_changed text;
alter table "call_rollups" add column "cached_tokens" integer not null default 0;
alter table "call_rollups" add column "cache_write_tokens" integer not null default 0;
alter table "call_rollups" add column "cache_saved_micros" integer not null default 0;
alter table "call_rollups" add column "cache_missed_tokens" integer not null default 0;
alter table "call_rollups" add column "cache_missed_micros" integer not null default 0;
alter table "call_sums" add column "cached_tokens" integer not null default 0;
alter table "call_sums" add column "cache_write_tokens" integer not null default 0;
alter table "call_sums" add column "cache_saved_micros" integer not null default 0;
alter table "call_sums" add column "cache_missed_tokens" integer not null default 0;
alter table "call_sums" add column "cache_missed_micros" integer not null default 0;
create index conversations_owner on conversations (owner, expires_at);
create table coding_sessions (
    caller_id text not null,       -- key or wallet; empty for none
    session_id text not null,
    client text,
    client_version text,
    started_at text not null,
    last_at text not null,         -- end of the last call
    "calls" integer not null default 0, "errors" integer not null default 0, "refused" integer not null default 0, "retries" integer not null default 0, "turns" integer not null default 0, "prompt_tokens" integer not null default 0, "completion_tokens" integer not null default 0, "total_tokens" integer not null default 0, "upstream_cost_micros" integer not null default 0, "cached_tokens" integer not null default 0, "cache_write_tokens" integer not null default 0, "cache_saved_micros" integer not null default 0, "cache_missed_tokens" integer not null default 0, "cache_missed_micros" integer not null default 0,
    first_turn text,               -- first and last turn of the newest batch of calls
    last_turn text,
    primary key (caller_id, session_id)
  );
create index coding_sessions_last on coding_sessions (last_at, session_id, caller_id);
create index coding_sessions_of_caller on coding_sessions (caller_id, last_at, session_id);
create index coding_sessions_cost
    on coding_sessions (upstream_cost_micros, session_id, caller_id);
create index coding_sessions_without_calls on coding_sessions (caller_id, last_at)
    where calls = 0;
create table session_facts (
    caller_id text not null,
    session_id text not null,
    from_at text not null,         -- inclusive
    until_at text,                 -- exclusive; null for the present range
    repository text,
    branch text,
    commit_sha text,
    dirty integer,
    path text,
    primary key (caller_id, session_id, from_at)
  );
create index session_facts_of_repository
    on session_facts (repository, branch, caller_id, session_id);
create table session_commits (
    caller_id text not null,
    session_id text not null,
    sha text not null,
    at text not null,
    subject text,
    repository text,
    branch text,
    primary key (caller_id, session_id, sha)
  );
create table call_tags (
    call_id text not null,
    tag text not null,
    primary key (call_id, tag)
  );
create table session_limits (
    owner text primary key,
    micros integer,
    calls integer,
    minutes integer,
    repeat_times integer,
    repeat_minutes integer
  );
create table session_states (
    caller_id text not null,
    session_id text not null,
    started_at text not null,
    seen_at text not null,
    calls integer not null,
    raised_micros integer not null,
    raised_calls integer not null,
    raised_minutes integer not null,
    stopped_at text,
    stopped_by text,
    changed_at text,
    primary key (caller_id, session_id)
  );
create index session_states_changed on session_states (changed_at) where changed_at is not null;
create index session_states_seen on session_states (seen_at) where stopped_at is null;
alter table allowances add column session text;
create index coding_sessions_of_client on coding_sessions (client);
create index session_facts_of_branch
    on session_facts (branch, caller_id, session_id);
alter table gaze_prints rename to old_gaze_prints;
alter table gaze_traces rename to old_gaze_traces;
create table gaze_packs (
    session_id text not null,
    first_seq integer not null,    -- positions in the session
    last_seq integer not null,
    from_at text not null,         -- the earliest and the latest start of a record
    to_at text not null,
    body blob not null,           -- all records
    primary key (session_id, first_seq)
  );
create index gaze_packs_of_session on gaze_packs (session_id, to_at);
create index gaze_packs_to on gaze_packs (to_at);
create table gaze_stretches (
    number integer primary key autoincrement,
    session_id text not null,
    first_seq integer not null,    -- of the pack
    path text not null,            -- '' for records without one
    source text not null,
    caller_id text,                -- its session's
    from_at text not null,
    to_at text not null,
    records integer not null       -- of the pack that have the path and the source
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
    content integer not null primary key, -- the negative of shape where the row holds that alone
    shape integer unique,
    session integer not null
  );
create table gaze_traces (
    hash integer not null primary key,
    session integer not null,
    hour integer not null,            -- since 1970
    steps blob not null
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
alter table tasks add column gaze_level text;
create index calls_with_content on calls (at) where content is not null;
create index tasks_ended on tasks (updated_at)
    where status in ('completed', 'failed', 'cancelled') and title <> '';
create table forgotten (
    id text primary key,           -- key or wallet
    at text not null
  );
drop index "metered_calls_counted";
drop index "metered_calls_of_group";
drop index "metered_calls_of_transfer";
drop index calls_at;
create index calls_at on calls (at);
create table receipt_prices (
    number integer primary key,
    price text not null unique    -- rates and their source as JSON
  );
alter table metered_calls add column price_number integer;
alter table coding_sessions rename to coding_sessions_before;
create table coding_sessions (
      number integer primary key,
      caller_id text not null,         -- key or wallet; empty for none
      session_id text not null,
      client text,
      client_version text,
      started_at text not null,
      last_at text not null,           -- end of the last call
      "calls" integer not null default 0, "errors" integer not null default 0, "refused" integer not null default 0, "retries" integer not null default 0, "turns" integer not null default 0, "prompt_tokens" integer not null default 0, "completion_tokens" integer not null default 0, "total_tokens" integer not null default 0, "upstream_cost_micros" integer not null default 0, "cached_tokens" integer not null default 0, "cache_write_tokens" integer not null default 0, "cache_saved_micros" integer not null default 0, "cache_missed_tokens" integer not null default 0, "cache_missed_micros" integer not null default 0,
      first_turn text,                 -- first and last turn of the newest batch of calls
      last_turn text,
      unique (session_id, caller_id)
    );
insert into coding_sessions ("caller_id", "session_id", "client", "client_version", "started_at", "last_at", "calls", "errors", "refused", "retries", "turns", "prompt_tokens", "completion_tokens", "total_tokens", "upstream_cost_micros", "cached_tokens", "cache_write_tokens", "cache_saved_micros", "cache_missed_tokens", "cache_missed_micros", "first_turn", "last_turn") select "caller_id", "session_id", "client", "client_version", "started_at", "last_at", "calls", "errors", "refused", "retries", "turns", "prompt_tokens", "completion_tokens", "total_tokens", "upstream_cost_micros", "cached_tokens", "cache_write_tokens", "cache_saved_micros", "cache_missed_tokens", "cache_missed_micros", "first_turn", "last_turn" from coding_sessions_before;
drop table coding_sessions_before;
create index coding_sessions_last on coding_sessions (last_at, session_id, caller_id);
create index coding_sessions_of_caller on coding_sessions (caller_id, last_at, session_id);
create index coding_sessions_cost
      on coding_sessions (upstream_cost_micros, session_id, caller_id);
create index coding_sessions_without_calls on coding_sessions (caller_id, last_at)
      where calls = 0;
create index coding_sessions_of_client on coding_sessions (client);
alter table coding_sessions add column "first_client" text;
alter table coding_sessions add column "first_client_version" text;
alter table calls add column session integer;
create index calls_of_session_number on calls (session, at) where session is not null;
create table archives (
    month text primary key,        -- 2026-11
    starts_at text not null,
    ends_at text not null,         -- what is booked before is read in files
    folder text not null,
    sha256 text not null,          -- of the file
    bytes integer not null,
    seal_at integer not null,      -- where the seal begins in the file
    seal_sha256 text not null,
    transfers integer not null,
    receipts integer not null,
    sealed_at text not null,
    pruned_at text                 -- null while rows of the month are in the store, too
  );
create virtual table memories_project_text using fts5(
    named, said, namespace, content='', columnsize=0, detail=column, tokenize='ascii'
  );
insert into "memories_text" ("memories_text", rank) values ('secure-delete', 1);
insert into "memories_project_text" ("memories_project_text", rank) values ('secure-delete', 1);
create view memories_project_words as
    select seq, case when trim(key_text || ' ' || tags_text) = '' then '' else hex(substr(cast(coalesce(project, '') as blob), -16)) || '·' || replace(trim(key_text || ' ' || tags_text), ' ', ' ' || hex(substr(cast(coalesce(project, '') as blob), -16)) || '·') end as named, case when trim(value_text || ' ' || also_text) = '' then '' else hex(substr(cast(coalesce(project, '') as blob), -16)) || '·' || replace(trim(value_text || ' ' || also_text), ' ', ' ' || hex(substr(cast(coalesce(project, '') as blob), -16)) || '·') end as said, hex(namespace) as namespace from memories;
create table memories_project_backlog (last integer primary key);
insert into memories_project_backlog select max(seq) from memories having max(seq) is not null;
create trigger memories_project_text_added after insert on memories when not exists (select 1 from memories_project_backlog where last >= new.seq) begin
    insert into memories_project_text (rowid, named, said, namespace)
      select seq, named, said, namespace from memories_project_words where seq = new.seq;
  end;
create trigger memories_project_text_removed before delete on memories when not exists (select 1 from memories_project_backlog where last >= old.seq) begin
    insert into memories_project_text (memories_project_text, rowid, named, said, namespace)
      select 'delete', seq, named, said, namespace from memories_project_words where seq = old.seq;
  end;
create trigger memories_project_text_changing before update of project, namespace, key_text, value_text, tags_text, also_text on memories when not exists (select 1 from memories_project_backlog where last >= old.seq) begin
    insert into memories_project_text (memories_project_text, rowid, named, said, namespace)
      select 'delete', seq, named, said, namespace from memories_project_words where seq = old.seq;
  end;
create trigger memories_project_text_changed after update of project, namespace, key_text, value_text, tags_text, also_text on memories when not exists (select 1 from memories_project_backlog where last >= new.seq) begin
    insert into memories_project_text (rowid, named, said, namespace)
      select seq, named, said, namespace from memories_project_words where seq = new.seq;
  end;
create index alert_messages_given_up on alert_messages (created_at)
    where next_at is null and error is not null;
insert into session_words (session_words, rank) values ('secure-delete', 1);
create index escrows_of_recipient on escrows (recipient, id) where recipient is not null;
alter table calls add column "queue_ms" integer;
alter table calls add column "first_byte_ms" integer;
alter table calls add column "first_thought_ms" integer;
alter table calls add column "first_text_ms" integer;
drop index calls_status;
create index calls_status on calls (status, at) where status <> 'ok';
create table matched_receipts (
    id integer primary key,      -- 1
    until text not null          -- all calls of before match their receipts
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
insert into memory_spaces (space, key_id, ends_at) values (1, 'key_01a22389151475bfb27c07c460ae697d', null);
delete from memories;
insert into memories (seq, id, space, project, namespace, key, tags, also, bytes, words, embedded, written_by, version, created_at, updated_at, expires_at, key_text, tags_text, also_text, value, value_text) values (1, 'mem_01a2238915417718a338adeaff6a7d34', 0, null, 'default', 'deploy/staging', '["deploy"]', '[]', 50, 5, '', null, 2, '2026-11-28T19:01:56.159Z', '2026-11-28T19:01:56.167Z', null, 'deploy staging', 'deploy', '', '"uses the eu-west cluster"', 'uses the eu west cluster');
insert into memories (seq, id, space, project, namespace, key, tags, also, bytes, words, embedded, written_by, version, created_at, updated_at, expires_at, key_text, tags_text, also_text, value, value_text) values (2, 'mem_01a22389154d7d9f918ac353d0175174', 1, null, 'default', 'greeting', '[]', '[]', 26, 2, '', 'key_01a22389151475bfb27c07c460ae697d', 1, '2026-11-28T19:01:56.172Z', '2026-11-28T19:01:56.172Z', null, '·b·greeting', '', '', '{"text":"hello"}', '·b·text ·b·hello');
delete from memory_versions;
insert into memory_versions (id, version, space, project, namespace, key, tags, also, written_by, created_at, updated_at, expires_at, superseded_by, value) values ('mem_01a2238915417718a338adeaff6a7d34', 1, 0, null, 'default', 'deploy/staging', '["deploy"]', '[]', null, '2026-11-28T19:01:56.159Z', '2026-11-28T19:01:56.159Z', null, null, '"uses the us-east cluster"');
delete from memory_tags;
insert into memory_tags (seq, tag, space, namespace, updated_at) values (1, 'deploy', 0, 'default', '2026-11-28T19:01:56.167Z');
delete from memory_totals;
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (0, 'default', 12, 1, 50, 5);
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (0, 'default', 1, 0, 0, 0);
insert into memory_totals (space, namespace, shard, memories, bytes, words) values (1, 'default', 6, 1, 26, 2);
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
insert into calls (call_id, at, surface, caller_id, path, requested_model, model, upstream, stream, status, http_status, fallback_from, latency_ms, latency_bucket, first_token_ms, prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens, usage_estimated, upstream_cost_micros, error, content, skipped, address, price_from, provider_key, changed, session_id, thread_id, parent_id, turn_id, kind, client, client_version, cache_saved_micros, cache_missed_tokens, cache_missed_micros, cache_changed, session, queue_ms, first_byte_ms, first_thought_ms, first_text_ms) values ('call_01a2238916d27485857b077fc2e3f7b9', '2026-11-28T19:01:56.562Z', 'platform', 'key_01a22389151475bfb27c07c460ae697d', '/v1/chat/completions', '', 'llm-4-1-fast-reasoning', 'sandbox', 0, 'ok', 200, null, 44, 76, null, 8, 14, 22, null, null, 0, 66, null, null, null, null, 'fixed', null, null, null, null, null, null, null, null, null, 0, 0, 0, null, null, 6, 40, null, null);
insert into calls (call_id, at, surface, caller_id, path, requested_model, model, upstream, stream, status, http_status, fallback_from, latency_ms, latency_bucket, first_token_ms, prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens, usage_estimated, upstream_cost_micros, error, content, skipped, address, price_from, provider_key, changed, session_id, thread_id, parent_id, turn_id, kind, client, client_version, cache_saved_micros, cache_missed_tokens, cache_missed_micros, cache_changed, session, queue_ms, first_byte_ms, first_thought_ms, first_text_ms) values ('call_01a22389170a74c8bf1cc5331d84aaf8', '2026-11-28T19:01:56.618Z', 'platform', null, '/v1/chat/completions', '', 'sandbox', 'sandbox', 0, 'ok', 200, null, 2, 14, null, 6, 12, 18, null, null, 0, 0, null, null, null, null, 'free', null, null, null, null, null, null, null, null, null, 0, 0, 0, null, null, 0, 2, null, null);
delete from call_rollups;
insert into call_rollups (hour, model, caller_id, path, status, latency_bucket, calls, prompt_tokens, completion_tokens, total_tokens, upstream_cost_micros, cached_tokens, cache_write_tokens, cache_saved_micros, cache_missed_tokens, cache_missed_micros) values ('2026-11-28T19:00:00.000Z', 'llm-4-1-fast-reasoning', 'key_01a22389151475bfb27c07c460ae697d', '/v1/chat/completions', 'ok', 76, 1, 8, 14, 22, 66, 0, 0, 0, 0, 0);
insert into call_rollups (hour, model, caller_id, path, status, latency_bucket, calls, prompt_tokens, completion_tokens, total_tokens, upstream_cost_micros, cached_tokens, cache_write_tokens, cache_saved_micros, cache_missed_tokens, cache_missed_micros) values ('2026-11-28T19:00:00.000Z', 'sandbox', '', '/v1/chat/completions', 'ok', 14, 1, 6, 12, 18, 0, 0, 0, 0, 0, 0);
delete from call_totals;
insert into call_totals (model, caller_id, path, status, calls) values ('llm-4-1-fast-reasoning', 'key_01a22389151475bfb27c07c460ae697d', '/v1/chat/completions', 'ok', 1);
insert into call_totals (model, caller_id, path, status, calls) values ('sandbox', '', '/v1/chat/completions', 'ok', 1);
delete from keys;
insert into keys (id, name, hash, scopes, group_id, wallet, billing, credit_limit_micros, requests_per_minute, tokens_per_minute, concurrent, models, first, created_at, expires_at, last_used_at, rotated_at, previous_hash, previous_until, revoked_at, lenient, cache) values ('key_01a22389151475bfb27c07c460ae697d', 'shop', 'd66d5e26a294ee268401974c041205d98da144866a6920d4f58fa57ec63d9c30', '["inference","platform"]', null, null, 'metered', null, 60, null, null, null, null, '2026-11-28T19:01:56.116Z', null, null, null, null, null, null, 0, 'auto');
insert into keys (id, name, hash, scopes, group_id, wallet, billing, credit_limit_micros, requests_per_minute, tokens_per_minute, concurrent, models, first, created_at, expires_at, last_used_at, rotated_at, previous_hash, previous_until, revoked_at, lenient, cache) values ('key_01a22389151a7377a8ed652c741f436a', 'agent', 'f70cf3c566ced4e4357278b207ae86f14926c8ca49748b5d8503f5521e710f53', '["inference","platform"]', null, null, 'metered', null, null, null, null, null, null, '2026-11-28T19:01:56.122Z', null, null, null, null, null, null, 0, 'auto');
delete from ledger_accounts;
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('caller:key_01a22389151475bfb27c07c460ae697d', 'caller', 'key_01a22389151475bfb27c07c460ae697d', 7419934, 7419934, 4, '30db028128eec272dcfbae3ed4e59ffcaf0932023b9f28a49da357809ae840e4');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('deposits:key_01a22389151475bfb27c07c460ae697d', 'deposits', 'key_01a22389151475bfb27c07c460ae697d', -10000000, -10000000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('held:key_01a22389151475bfb27c07c460ae697d', 'held', 'key_01a22389151475bfb27c07c460ae697d', 0, 0, 1, 'f8da5bfac61ea90bc90ae8f83647ed4a762d275baba9fb861ab009743ec8b73f');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('revenue:key_01a22389151475bfb27c07c460ae697d', 'revenue', 'key_01a22389151475bfb27c07c460ae697d', 80000, 80000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('upstream_cost:key_01a22389151475bfb27c07c460ae697d', 'upstream_cost', 'key_01a22389151475bfb27c07c460ae697d', 66, 66, 0, '0000000000000000000000000000000000000000000000000000000000000000');
insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head) values ('escrow:esc_01a22389171472688c0b6b34b10f7d17', 'escrow', 'key_01a22389151475bfb27c07c460ae697d', 2500000, 2500000, 0, '0000000000000000000000000000000000000000000000000000000000000000');
delete from ledger_transfers;
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('deposit:story', 'caller:key_01a22389151475bfb27c07c460ae697d', 1, 'deposit', '[{"account":"caller:key_01a22389151475bfb27c07c460ae697d","micros":10000000,"deposited":10000000},{"account":"deposits:key_01a22389151475bfb27c07c460ae697d","micros":-10000000,"deposited":-10000000}]', null, '2026-11-28T19:01:56.124Z', '7b406b832d4e26f4b69af9063cecfd33e3ec9e1b38ef2084430e2991c451daf4');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('allowance:alw_01a2238915b678cca21f4f042c2d905a:1', 'caller:key_01a22389151475bfb27c07c460ae697d', 2, 'reserve', '[{"account":"caller:key_01a22389151475bfb27c07c460ae697d","micros":-647464,"deposited":-647464},{"account":"held:key_01a22389151475bfb27c07c460ae697d","micros":647464,"deposited":647464}]', null, '2026-11-28T19:01:56.278Z', '51431dd5f5659c5a4a3d94a871f00435ba774e97359513dffad6d6fcfecefaea');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('allowance:alw_01a2238915b678cca21f4f042c2d905a:2', 'caller:key_01a22389151475bfb27c07c460ae697d', 3, 'void', '[{"account":"caller:key_01a22389151475bfb27c07c460ae697d","micros":567398,"deposited":567398},{"account":"held:key_01a22389151475bfb27c07c460ae697d","micros":-567398,"deposited":-567398}]', null, '2026-11-28T19:01:56.626Z', '6a46c4090c8e5717a37c6ce17dbafd2d683140a3258558fd965687dbe9baf5e7');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('escrow:esc_01a22389171472688c0b6b34b10f7d17:lock', 'caller:key_01a22389151475bfb27c07c460ae697d', 4, 'lock', '[{"account":"caller:key_01a22389151475bfb27c07c460ae697d","micros":-2500000,"deposited":-2500000},{"account":"escrow:esc_01a22389171472688c0b6b34b10f7d17","micros":2500000,"deposited":2500000}]', null, '2026-11-28T19:01:56.628Z', '30db028128eec272dcfbae3ed4e59ffcaf0932023b9f28a49da357809ae840e4');
insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash) values ('charge:call_01a2238917027038bf47dc66c85dde7b:0', 'held:key_01a22389151475bfb27c07c460ae697d', 1, 'charge', '[{"account":"held:key_01a22389151475bfb27c07c460ae697d","micros":-80066,"deposited":-80066},{"account":"revenue:key_01a22389151475bfb27c07c460ae697d","micros":80000,"deposited":80000},{"account":"upstream_cost:key_01a22389151475bfb27c07c460ae697d","micros":66,"deposited":66}]', null, '2026-11-28T19:01:56.281Z', 'f8da5bfac61ea90bc90ae8f83647ed4a762d275baba9fb861ab009743ec8b73f');
delete from metered_calls;
insert into metered_calls (call_id, caller_id, model, at, path, counted_on, group_id, transfer, margin_micros, upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, upstream_call_id, upstream, price, cached_tokens, cache_write_tokens, cache_write_1h_tokens, charged, capped, stated, absorbed_micros, debt_micros, price_number) values ('call_01a2238916d27485857b077fc2e3f7b9', 'key_01a22389151475bfb27c07c460ae697d', 'llm-4-1-fast-reasoning', '2026-11-28T19:01:56.281Z', '/api/wallet/metered/call', '2026-11-28', null, 'charge:call_01a2238917027038bf47dc66c85dde7b:0', 80000, 66, 'pathUSD', 8, 14, 22, 0, 434, 'call_01a2238916d27485857b077fc2e3f7b9', 'sandbox', '', 0, 0, 0, 1, 0, 0, 0, 0, 1);
delete from receipt_prices;
insert into receipt_prices (number, price) values (1, '{"input":3,"output":3,"cached_input":3,"cache_write":3,"cache_write_1h":3,"tier":null,"from":"fixed"}');
delete from metered_usage;
insert into metered_usage (caller_id, day, model, upstream, price, charged, calls, total_tokens, upstream_cost_micros, margin_micros, prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, estimated_calls, capped_calls, stated_calls, absorbed_micros, debt_micros) values ('key_01a22389151475bfb27c07c460ae697d', '2026-11-28', 'llm-4-1-fast-reasoning', 'sandbox', '{"input":3,"output":3,"cached_input":3,"cache_write":3,"cache_write_1h":3,"tier":null,"from":"fixed"}', 1, 1, 22, 66, 80000, 8, 0, 0, 0, 14, 0, 0, 0, 0, 0);
delete from spending;
insert into spending (owner, day, charged_micros, recorded_micros, beyond_micros, forgiven_micros) values ('key_01a22389151475bfb27c07c460ae697d', '2026-11-28', 2580066, 0, 0, 0);
insert into spending (owner, day, charged_micros, recorded_micros, beyond_micros, forgiven_micros) values ('key_01a22389151475bfb27c07c460ae697d', 'total', 2580066, 0, 0, 0);
delete from tasks;
insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by, claim_hash, lease_seconds, lease_expires_at, claimed_at, completed_at, result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id, reward_expires_at, reward_settlement, created_at, updated_at, review, gaze_level) values ('task_01a22389171472688c0b6b3395222d20', 'Build the parcel tracker', '', 2500000, '["ts"]', 'completed', 'key_01a22389151475bfb27c07c460ae697d', 'ada', 'key_01a22389151a7377a8ed652c741f436a', null, 3600, null, '2026-11-28T19:01:56.633Z', '2026-11-28T19:01:56.636Z', '{"commit":"abc"}', 0, '[]', 0, null, 'esc_01a22389171472688c0b6b34b10f7d17', '2026-11-29T19:01:56.628Z', 'ledger', '2026-11-28T19:01:56.628Z', '2026-11-28T19:01:56.636Z', null, null);
insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by, claim_hash, lease_seconds, lease_expires_at, claimed_at, completed_at, result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id, reward_expires_at, reward_settlement, created_at, updated_at, review, gaze_level) values ('task_01a2238917177aa1a2a2d301574b54f2', 'Ship the parcel tracker', '', 0, '[]', 'open', 'key_01a22389151475bfb27c07c460ae697d', null, null, null, null, null, null, null, null, 0, '["task_01a22389171472688c0b6b3395222d20"]', 0, null, null, null, null, '2026-11-28T19:01:56.631Z', '2026-11-28T19:01:56.636Z', null, null);
delete from task_capabilities;
insert into task_capabilities (task_id, capability, status, agent) values ('task_01a22389171472688c0b6b3395222d20', 'ts', 'completed', 'ada');
delete from task_dependencies;
insert into task_dependencies (depends_on, task_id) values ('task_01a22389171472688c0b6b3395222d20', 'task_01a2238917177aa1a2a2d301574b54f2');
delete from task_totals;
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (1, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (7, -1, 1, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (8, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2500000, 0, 0);
insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros) values (12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
delete from escrows;
insert into escrows (id, task_id, amount_micros, token, payer, recipient, status, counted_on, counted_group, settlement_mode, attestation_id, reason, created_at, expires_at, released_at, settled_at, refunded_at) values ('esc_01a22389171472688c0b6b34b10f7d17', 'task_01a22389171472688c0b6b3395222d20', 2500000, 'pathUSD', 'key_01a22389151475bfb27c07c460ae697d', 'key_01a22389151a7377a8ed652c741f436a', 'locked', '2026-11-28', null, 'ledger', null, null, '2026-11-28T19:01:56.628Z', '2026-11-29T19:01:56.628Z', null, null, null);
delete from rate_windows;
insert into rate_windows (key_id, state) values ('key_01a22389151475bfb27c07c460ae697d', '{"at":1795892516559,"n":1,"uses":[{"n":1,"from":1795892516559,"until":1795892516859,"requests":1,"tokens":0}],"holders":{"8cea7d4c-1f6a-488b-a50d-ddc62f5d7b49":{"turn":1,"places":0,"tokens":0,"at":1795892516559}},"answer":null}');
delete from settings_revision;
insert into settings_revision (id, revision) values (1, 0);
