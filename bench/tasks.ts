import { join } from 'node:path'
import { CompiledQuery, sql } from 'kysely'
import type { Caller } from '../src/escrow/escrow.ts'
import { createEscrows, EscrowList } from '../src/escrow/escrow.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { Claim, Completion, createTasks, NewTask, TaskList } from '../src/tasks/tasks.ts'
import { makeDeposit } from '../src/wallet/ledger/deposits.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'

const CALLERS = 16
const TASKS_OF_A_CALLER = 60
const TASKS = 1_000_000
/** Rows of one statement while seeding. */
const CHUNK = 50_000

/** Throughput of tasks created, claimed and completed with rewards; lists and totals at a million tasks. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('tasks')
  const sqlite = await openStore(`sqlite:${join(folder, 'store.db')}`)
  await measureTasks(report, sqlite, 'SQLite', 150)
  await sqlite.close()
  const server = await startPostgres({ durable: true })
  const postgres = await openStore(await server.database())
  await measureTasks(report, postgres, 'PostgreSQL', 300)
  await postgres.close()

  await measureLists(report, await openStore(`sqlite:${join(folder, 'million.db')}`), 'SQLite')
  await measureLists(report, await openStore(await server.database()), 'PostgreSQL')
  await server.remove()
}

/** The services on `store`; nothing is verified and no chain pays, as neither is part of what is measured. */
function servicesOn(store: Store) {
  const now = () => new Date()
  const verifier = { check: async () => [], use: async () => true }
  const escrows = createEscrows({
    store,
    now,
    limitsOf: async () => ({ creditMicros: 0, groupId: null }),
    settlements: { mode: 'ledger', requireRecipient() {}, async enqueue() {}, states: async () => new Map() },
    verifier,
    token: () => 'pathUSD',
  })
  return { escrows, tasks: createTasks({ store, now, escrows, verifier }) }
}

async function measureTasks(report: Report, store: Store, engine: string, atLeast: number): Promise<void> {
  const { tasks } = servicesOn(store)
  const callers = Array.from(
    { length: CALLERS },
    (_, i): Caller => ({ id: address(i), scopes: new Set(['platform']), wallet: null }),
  )
  for (const { id } of callers)
    await makeDeposit(store, { caller_id: id, amount_usd: 1_000, reference: id }, new Date())
  const input = NewTask.parse({ title: 'Measure it', reward_usd: 1, capabilities: ['bench'] })
  const claim = Claim.parse({ agent: 'bench' })
  const end = Completion.parse({ agent: 'bench', result: { measured: true } })
  const all = (each: number) =>
    Promise.all(
      callers.map(async (caller) => {
        for (let i = 0; i < each; i++) {
          const { id } = await tasks.create(input, caller.id)
          await tasks.claim(id, claim, caller)
          await tasks.complete(id, end, caller)
        }
      }),
    )
  await all(3)
  const start = performance.now()
  await all(TASKS_OF_A_CALLER)
  const figure = (CALLERS * TASKS_OF_A_CALLER * 1_000) / (performance.now() - start)
  const what = `tasks made, claimed and completed with escrow, ${CALLERS} callers, ${engine}`
  report.add({ what, unit: 'req/s', figure, bar: { atLeast } })
}

async function measureLists(report: Report, store: Store, engine: string): Promise<void> {
  await seedTasks(store)
  const { tasks, escrows } = servicesOn(store)
  const list = (query: object) => tasks.list(TaskList.parse(query), null)
  const times = await interleave(
    {
      newest: () => list({}),
      open: () => list({ status: 'open' }),
      failed: () => list({ status: 'failed', agent: 'agent 7' }),
      capability: () => list({ status: 'open', capability: 'skill 3' }),
      none: () => list({ agent: 'agent 7', capability: 'skill 2' }),
      agent: (turn) => list({ agent: `agent ${turn % 50}` }),
      stats: () => tasks.stats(null),
      escrows: () => escrows.list(EscrowList.parse({ status: 'locked' }), null),
    },
    { warmups: 5, rounds: 60 },
  )
  await store.close()
  const named = {
    newest: 'list of tasks',
    open: 'list of open tasks',
    failed: 'list of the failed tasks of an agent',
    capability: 'list of open tasks with a capability',
    none: 'list of the tasks of an agent with a capability that none has',
    agent: 'list of the tasks of an agent',
    stats: 'statistics of tasks',
    escrows: 'list of locked escrows',
  }
  for (const [name, what] of Object.entries(named))
    report.add({
      what: `${what}, ${TASKS} tasks, ${engine}`,
      unit: 'ms',
      figure: times[name as keyof typeof named],
      bar: { atMost: 10 },
    })
}

/** SYNTHETIC tasks of 50 agents, most completed and one in 50 open, each with a capability of eight and an escrow. */
async function seedTasks(store: Store): Promise<void> {
  const { numbers, text, time, json } = dialect(store)
  const run = (statement: string) => store.write((trx) => trx.executeQuery(CompiledQuery.raw(statement)))
  // What is seeded need not outlive a crash; the lists are then read with the cache that everyone has.
  const pragmas = async (cache: number, synchronous: string) => {
    if (store.engine !== 'sqlite') return
    await sql.raw(`pragma cache_size = ${cache}`).execute(store.db)
    await sql.raw(`pragma synchronous = ${synchronous}`).execute(store.db)
  }
  await pragmas(-400_000, 'off')
  const status = `case when n % 50 = 0 then 'open' when n % 500 = 7 then 'failed' else 'completed' end`
  const agent = `case when n % 50 = 0 then null else 'agent ' || (n % 50) end`
  for (let first = 1; first <= TASKS; first += CHUNK) {
    const rows = numbers(first, Math.min(first + CHUNK - 1, TASKS))
    await run(`insert into tasks (id, title, description, reward_micros, capabilities, status, creator, agent, claimed_by,
        result, gaze_required, depends_on, waiting_on, swarm_id, escrow_id, created_at, updated_at)
      select 'task_' || ${text('n')}, 'Task ' || n, 'Something to do', 1000000, ${json(`'["skill ' || (n % 8) || '"]'`)}, ${status},
        'key_' || (n % 20), ${agent}, null, null, 0, ${json(`'[]'`)}, 0, null,
        'esc_' || ${text('n')}, ${time('n')}, ${time('n')} from ${rows}`)
    await run(`insert into task_capabilities (task_id, capability, status, agent)
      select 'task_' || ${text('n')}, 'skill ' || (n % 8), ${status}, ${agent} from ${rows}`)
    await run(`insert into escrows (id, task_id, amount_micros, token, payer, status, settlement_mode, created_at, expires_at)
      select 'esc_' || ${text('n')}, 'task_' || ${text('n')}, 1000000, 'pathUSD', 'key_' || (n % 20),
        case when n % 50 = 0 then 'locked' else 'released' end, 'ledger', ${time('n')}, ${time('n + 100000000')} from ${rows}`)
  }
  await run(`insert into task_totals (shard, blocked, open, claimed, completed, failed, cancelled, escrow_locked,
      escrow_released, escrow_settled, escrow_expired, escrow_refunded, locked_micros, paid_micros, refunded_micros)
    select 0, 0, sum(case when status = 'open' then 1 else 0 end), 0, sum(case when status = 'completed' then 1 else 0 end),
      sum(case when status = 'failed' then 1 else 0 end), 0, sum(case when status = 'open' then 1 else 0 end),
      sum(case when status = 'open' then 0 else 1 end), 0, 0, 0, 0, 0, 0 from tasks`)
  // As the server itself does in time; the figures shall not depend on whether it has come to it yet. SQLite does not.
  if (store.engine === 'postgres') await sql`vacuum analyze`.execute(store.db)
  await pragmas(-2_000, 'full')
}

function dialect({ engine }: Store) {
  const start = '2026-01-01T00:00:00.000Z'
  if (engine === 'sqlite')
    return {
      numbers: (first: number, last: number) =>
        `(with recursive counted (n) as (select ${first} union all select n + 1 from counted where n < ${last})
          select n from counted) as numbers`,
      text: (n: string) => `printf('%032d', ${n})`,
      json: (text: string) => text,
      time: (n: string) => `strftime('%Y-%m-%dT%H:%M:%S.000Z', '${start}', '+' || (${n}) || ' seconds')`,
    }
  return {
    numbers: (first: number, last: number) => `generate_series(${first}, ${last}) as numbers (n)`,
    text: (n: string) => `lpad((${n})::text, 32, '0')`,
    json: (text: string) => `(${text})::json`,
    time: (n: string) => `timestamptz '${start}' + (${n}) * interval '1 second'`,
  }
}

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
