import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { CallRecord } from '../src/calls/call-record.ts'
import { NO_SESSION } from '../src/calls/call-session.ts'
import { createCallWriter } from '../src/calls/call-writer.ts'
import { type CodingSessionQuery, listSessions } from '../src/coding-sessions/list-sessions.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Paged } from '../src/store/page.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'

const SESSIONS = Number(process.env.BENCH_ROWS ?? 100_000)
const TIMED = { warmups: 5, rounds: 40 }
/** Calls whose bytes are measured, of one session each so many. */
const [CALLS, OF_A_SESSION] = [20_000, 50]
const START = Date.parse('2026-11-01T00:00:00Z')

/** Lists, by what they ask for. The least selective filters and the most selective ones. */
const LISTS: Record<string, Omit<Paged<CodingSessionQuery>, 'limit' | 'sort'> & { sort?: 'last' | 'cost' }> = {
  'the latest': {},
  'the dearest': { sort: 'cost' },
  'the latest of one of 50 keys': { key: 'key_7' },
  'the latest of one of 50 repositories': { repository: 'github.com/ann/shop-7' },
  'the dearest of one of 5,000 branches': { branch: 'feature/7', sort: 'cost' },
  'the latest of a client of a third': { client: 'client-1' },
}

/** Lists of many sessions of coding agents, and what a session adds to the store. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('sessions')
  const sqlite = await openStore(`sqlite:${join(folder, 'sessions.db')}`)
  await measureLists(report, 'SQLite', sqlite)
  await sqlite.close()
  const server = await startPostgres({ durable: true })
  process.once('exit', () => void server.stop())
  const postgres = await openStore(await server.database())
  await measureLists(report, 'PostgreSQL', postgres)
  await postgres.close()
  await server.remove()
  const [without, within] = [await bytesOf(folder, null), await bytesOf(folder, 'claude-code')]
  report.add({
    what: `what a session adds to a stored call, ${OF_A_SESSION} calls each, SQLite`,
    unit: 'bytes',
    figure: (within - without) / CALLS,
    against: { what: 'a call without one', figure: without / CALLS },
    bar: { atMost: 60 },
  })
}

async function measureLists(report: Report, engine: string, store: Store): Promise<void> {
  await seed(store)
  const tasks = Object.entries(LISTS).map(([name, query]) => [
    name,
    () => listSessions(store, { sort: 'last', limit: 50, ...query }),
  ])
  const times: Record<string, number> = await interleave(Object.fromEntries(tasks), TIMED)
  for (const [name, figure] of Object.entries(times))
    report.add({ what: `${name}, of ${SESSIONS} sessions, ${engine}`, unit: 'ms', figure, bar: { atMost: 50 } })
}

async function seed(store: Store): Promise<void> {
  const numbers = sql`with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < ${sql.lit(SESSIONS - 1)})`
  const isSqlite = store.engine === 'sqlite'
  const time = isSqlite
    ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', 1793491200 + i * 20, 'unixepoch')`
    : sql`timestamptz '2026-11-01' + i * interval '20 seconds'`
  const key = sql`'key_' || (i % 50)`
  await store.write(async (trx) => {
    await sql`insert into coding_sessions (caller_id, session_id, client, started_at, last_at, calls, upstream_cost_micros)
      ${numbers} select ${key}, 'session-' || i, 'client-' || (i % 3), ${time}, ${time}, 20, (i * 7919) % 1000000
      from numbers`.execute(trx)
    await sql`insert into session_facts (caller_id, session_id, from_at, repository, branch)
      ${numbers} select ${key}, 'session-' || i, ${time}, 'github.com/ann/shop-' || (i % 50), 'feature/' || (i % 5000)
      from numbers`.execute(trx)
  })
  await sql`${sql.raw(isSqlite ? 'analyze' : 'vacuum analyze')}`.execute(store.db)
}

/** Size of a store of calls, in bytes. @param client of their sessions; null for calls without one */
async function bytesOf(folder: string, client: string | null): Promise<number> {
  const file = join(folder, `calls-${client ?? 'bare'}.db`)
  const store = await openStore(`sqlite:${file}`)
  const write = createCallWriter(store, async () => {})
  for (let first = 0; first < CALLS; first += OF_A_SESSION) {
    const said = client === null ? {} : { session_id: randomUUID(), client, client_version: '2.1.197' }
    const records = Array.from({ length: OF_A_SESSION }, (_, i) => ({ ...recordOf(first + i), ...said }))
    await write(
      records.map((record) => ({ record, spend: null, made: [] })),
      0,
    )
  }
  await store.close()
  return statSync(file).size
}

const recordOf = (i: number): CallRecord => ({
  call_id: `call_${randomUUID().replaceAll('-', '')}`,
  at: new Date(START + i * 1000).toISOString(),
  surface: 'http',
  caller_id: 'key_01a21eda9abd711b8eb7cfee0bacab10',
  address: '127.0.0.1',
  path: '/v1/messages',
  requested_model: 'claude-sonnet-4-5',
  model: 'claude-sonnet-4-5',
  upstream: 'default',
  stream: true,
  status: 'ok',
  http_status: 200,
  fallback_from: null,
  skipped: [],
  latency_ms: 1000 + (i % 500),
  first_token_ms: 300,
  usage: { prompt_tokens: 20_000, completion_tokens: 300, total_tokens: 20_300, cached_tokens: 18_000 },
  upstream_cost_usd: 0.01,
  price_from: null,
  provider_key: null,
  ...NO_SESSION,
  error: null,
})
