import { CompiledQuery, sql } from 'kysely'
import { CHAIN_START } from '../src/gaze/fingerprint.ts'
import { lockSession } from '../src/gaze/gaze-session.ts'
import { appendPacks, type NewRecord } from '../src/gaze/record-packs.ts'
import { createMemory } from '../src/memory/memory.ts'
import type { Store } from '../src/store/store.ts'
import { seedStore } from './seeded-store.ts'

/** Records of one gaze session. */
const GAZE_SESSION = 20_000
/** Rows of one statement. */
const CHUNK = 50_000
const HOUR = '2024-11-01T00:00:00.000Z'
const HOURS = 17_520
const LARGE_VALUE = 'lorem ipsum dolor sit amet '.repeat(9_300)

/** Ids that the requests ask for. */
export interface Seeded {
  /** A gaze session with records enough for any analysis. */
  gazeSession: string
  chatSession: string
}

/**
 * Fills an empty SQLite store with `rows` SYNTHETIC rows of everything that is listed or added up, written by the engine
 * itself: memories, calls and two years of their sums, receipts and theirs, gaze records, tasks, messages, transfers; and
 * with a thousandth as many memories of 250 KB.
 */
export async function seedWaits(store: Store, rows: number): Promise<Seeded> {
  await seedStore(store, rows)
  const memory = createMemory({ store, now: () => new Date() })
  for (let i = 0; i < Math.min(1000, Math.ceil(rows / 1000)); i++)
    await memory.store({ key: `large/${i}`, namespace: 'large', value: LARGE_VALUE, tags: ['large'] })
  await seedEach(store, rows, SUMS)
  await seedEach(store, rows, RECEIPTS)
  await seedEach(store, rows, USAGE)
  await seedGaze(store, rows)
  await seedEach(store, rows, TASKS)
  await seedEach(store, rows, MESSAGES)
  await seedEach(store, rows, TRANSFERS)
  for (const statement of TOTALS) await run(store, statement)
  await sql`analyze`.execute(store.db)
  return { gazeSession: 'gaze-0', chatSession: 'chat-0' }
}

/** Packs of records a second apart, 20,000 a session, on 4,001 files. */
async function seedGaze(store: Store, rows: number): Promise<void> {
  const start = Date.parse('2026-01-01T00:00:00.000Z')
  for (let from = 0; from < rows; from += GAZE_SESSION) {
    const session_id = `gaze-${from / GAZE_SESSION}`
    const all = Math.min(GAZE_SESSION, rows - from)
    const records = Array.from({ length: all }, (_, i): NewRecord => {
      const at = new Date(start + (from + i) * 1000).toISOString()
      const env = { path: `/project/file-${(from + i) % 4001}`, x: (i % 97) / 100, y: (i % 89) / 100 }
      const tensor = {
        at,
        dwell_ms: 180,
        source: 'eye_tracker',
        confidence: 0.9,
        cog: { focus: 0.5, load: 0.4 },
        env,
      } as const
      return { seq: i + 1, tensor, stored_at: at, isBeside: false, isCopied: false, hash: CHAIN_START, shape: null }
    })
    await store.write(async (trx) => {
      const by = { taskId: undefined, callerId: null, chatsOf: undefined }
      const session = await lockSession(trx, session_id, by, records[0]?.stored_at ?? '')
      await appendPacks(trx, session, records)
      await trx.updateTable('gaze_sessions').set({ records: all }).where('session_id', '=', session_id).execute()
    })
  }
}

async function seedEach(store: Store, rows: number, insert: string): Promise<void> {
  for (let first = 0; first < rows; first += CHUNK)
    await run(
      store,
      `${insert} from (with recursive counted (n) as (select ${first} union all select n + 1 from counted
        where n < ${Math.min(first + CHUNK, rows) - 1}) select n from counted) as numbers`,
    )
}

const run = (store: Store, statement: string) =>
  store.write(async (trx) => void (await trx.executeQuery(CompiledQuery.raw(statement))))

const hour = (n: string) => `strftime('%Y-%m-%dT%H:00:00.000Z', '${HOUR}', '+' || (${n}) || ' hours')`
const second = `strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01T00:00:00.000Z', '+' || n || ' seconds')`
const hex = `printf('%032x', n)`

/** Some sixty rows for each hour of two years. */
const SUMS = `insert into call_sums (level, start, caller_id, model, path, status, calls, prompt_tokens, completion_tokens,
    total_tokens, upstream_cost_micros, latencies)
  select 'hour', ${hour(`n % ${HOURS}`)}, 'key_' || (n / ${HOURS}), 'model-' || (n % 3), '/v1/chat/completions', 'ok', 10, 100,
    100, 200, 600, '[93,4,94,2,95,2,100,1,110,1]'`

const RECEIPTS = `insert into metered_calls (call_id, caller_id, model, at, path, margin_micros,
    upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms,
    upstream_call_id, counted_on)
  select 'call_' || ${hex}, 'key_' || (n % 50), 'model-' || (n % 3), ${second},
    '/api/wallet/metered/call', 80000, 60, 'pathUSD', 10, 10, 20, 0, 100, null, substr(${second}, 1, 10)`

const USAGE = `insert into metered_usage (caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros)
  select 'key_' || (n / 730), date('2024-11-01', '+' || (n % 730) || ' days'), 'model', 10, 200, 600, 800000`

const TASKS = `insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by,
    claim_hash, lease_seconds, lease_expires_at, result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id,
    reward_expires_at, created_at, updated_at)
  select 'task_' || ${hex}, 'task ' || n, 'Do it.', 0, '[]', 'completed', 'key_1', 'agent-' || (n % 50), 'key_2', null, null,
    null, '{"done":true}', 0, '[]', 0, null, null, null, ${second}, ${second}`

const MESSAGES = `insert into session_messages (session_id, position, id, role, name, content, at, tensor, poa_score,
    token_count, call_id)
  select 'chat-' || (n / 10000), n % 10000 + 1, 'msg_' || ${hex}, case n % 2 when 0 then 'user' else 'assistant' end, null,
    'word' || (n % 5000) || ' and some more words that somebody said', ${second}, null, null, 10, null`

const TRANSFERS = `insert into ledger_transfers (key, chain, position, kind, entries, memo, at, hash)
  select 'seed:' || n, 'caller:key_0', n + 1, 'deposit',
    '[{"account":"caller:key_0","micros":1},{"account":"deposits:all","micros":-1}]', null, ${second}, ${hex}`

/** Statements that compute the totals and parent rows from the seeded rows. */
const TOTALS = [
  `insert into call_sums select 'hour_of_all', start, '', model, path, status, sum(calls), sum(prompt_tokens),
    sum(completion_tokens), sum(total_tokens), sum(upstream_cost_micros), min(latencies)
    from call_sums where level = 'hour' group by start, model, path, status`,
  `insert into call_sums select 'day_of_all', substr(start, 1, 10) || 'T00:00:00.000Z', '', model, path, status, sum(calls),
    sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(upstream_cost_micros), min(latencies)
    from call_sums where level = 'hour_of_all' group by 2, model, path, status`,
  `insert into call_sums select 'day_of_caller', substr(start, 1, 10) || 'T00:00:00.000Z', caller_id, '', '', status,
    sum(calls), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(upstream_cost_micros), min(latencies)
    from call_sums where level = 'hour' group by 2, caller_id, status`,
  `insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked, escrow_released,
      escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros)
    select 0, 0, 0, 0, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 from tasks`,
  `insert into sessions (id, user_id, source, title, model, started_at, last_active_at, ended_at, end_reason,
      parent_session_id, message_count, tool_call_count, input_tokens, output_tokens, cost_micros, preview)
    select session_id, 'key_environment', 'platform', null, null, min(at), max(at), null, null, null, count(*), 0, 0, 0, 0, ''
    from session_messages group by session_id`,
  `insert into session_texts (session_id, user_id, position, words_text)
    select session_id, 'key_environment', position, content from session_messages where position % 2 = 1`,
  `insert into session_totals (user_id, source, sessions) select user_id, source, count(*) from sessions group by 1, 2`,
  `insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head)
    select 'caller:key_0', 'caller', 'key_0', count(*), count(*), count(*), '' from ledger_transfers`,
]
