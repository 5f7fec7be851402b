import { join } from 'node:path'
import { sql } from 'kysely'
import { createCalls } from '../src/calls/calls.ts'
import { Config } from '../src/config/config-schema.ts'
import { createUpstream } from '../src/inference/inference.ts'
import { createLateTerms } from '../src/inference/settle/abandoned-answer.ts'
import { createMetering } from '../src/metering/metering.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { type Micros, toMicros } from '../src/text/money.ts'
import { createTokenCounter } from '../src/text/token-counter.ts'
import { createAbsorbed } from '../src/wallet/budget/absorbed-costs.ts'
import { writeCallSpending } from '../src/wallet/budget/allowances.ts'
import { createReservations } from '../src/wallet/budget/reservations.ts'
import { createLimits } from '../src/wallet/budget/spending-limits.ts'
import { createCharges } from '../src/wallet/receipts/charges.ts'
import { createWallet } from '../src/wallet/wallet.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { UNBILLED } from '../test/doubles/unbilled.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'

const ROUNDS = { warmups: 50, rounds: 400 }
const CALLERS = 64
const CALLS_OF_A_CALLER = 30
const RECEIPTS = 1_000_000
const DAYS = 90

const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Say hello', max_tokens: 100 }

/** Latency that metering adds to a call, its throughput with many callers, and its totals at a million receipts. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('wallet')
  const sqlite = await openStore(`sqlite:${join(folder, 'store.db')}`)
  await measureOverhead(report, sqlite, 'SQLite', 2)
  await sqlite.close()

  const server = await startPostgres({ durable: true })
  const postgres = await openStore(await server.database())
  await measureOverhead(report, postgres, 'PostgreSQL', 6)
  await measureCallers(report, postgres)
  await postgres.close()
  await server.remove()

  await measureTotals(report, await openStore(`sqlite:${join(folder, 'million.db')}`))
}

/** The services on `store`, with an upstream in this process, so that its network is not what is measured. */
function servicesOn(store: Store) {
  const config = Config.parse({ upstream: { provider: 'sandbox' } })
  const onError = (error: unknown) => {
    throw error
  }
  const calls = createCalls({ store, onError, writeSpending: writeCallSpending })
  const countTokens = createTokenCounter()
  const { pricing } = config
  const upstream = createUpstream({
    config: config.upstream,
    calls,
    prices: pricing,
    storeContent: false,
    countTokens,
    late: createLateTerms(2000),
    billing: UNBILLED,
  })
  const now = () => new Date()
  const defaultCreditMicros = toMicros(config.wallet.default_credit_limit_usd) as Micros
  const limitsOf = createLimits(store, defaultCreditMicros).of
  const wallet = createWallet({ store, limitsOf, pricing, now })
  const reservations = createReservations({ store, now, onError })
  const identity = () => null
  const charge = createCharges(store)
  const absorbed = createAbsorbed(store, now, () => toMicros(config.wallet.absorbed_usd_per_day) as Micros)
  const terms = { pricing, defaultCreditMicros, waitMs: 0, now, onForeignModel() {}, onAbsorbed() {}, onOverrun() {} }
  const billing = { reservations, absorbed, charge, identity, ...terms }
  const metering = createMetering({ upstream, billing, config: config.wallet, countTokens })
  const by = (callerId: string) => ({ callerId, context: { surface: 'platform' as const, callerId } })
  return { calls, upstream, wallet, metering, by }
}

async function measureOverhead(report: Report, store: Store, engine: string, atMost: number): Promise<void> {
  const { calls, upstream, wallet, metering, by } = servicesOn(store)
  const caller = address(0)
  await wallet.deposit({ caller_id: caller, amount_usd: 1_000, reference: 'overhead' })
  const { model, prompt, max_tokens } = CALL
  const chat = { model, messages: [{ role: 'user' as const, content: prompt }], max_completion_tokens: max_tokens }
  const times = await interleave(
    {
      plain: () => upstream.chat(chat, by(caller).context),
      metered: () => metering.call(CALL, by(caller)),
      commits: async (turn) => {
        await smallestWrite(store, 2 * turn)
        await smallestWrite(store, 2 * turn + 1)
      },
    },
    ROUNDS,
  )
  await calls.flush()
  report.add({ what: `call without metering, ${engine}`, unit: 'ms', figure: times.plain })
  report.add({
    what: `what metering adds to it, ${engine}`,
    unit: 'ms',
    figure: times.metered - times.plain,
    against: { what: 'two smallest durable writes', figure: times.commits },
    bar: { atMost },
  })
}

/** One row in one transaction: what a durable write costs here, now. */
function smallestWrite(store: Store, turn: number): Promise<void> {
  return store.write(async (trx) => {
    await trx
      .insertInto('spending')
      .values({
        owner: `write ${turn}`,
        day: '2026-11-21',
        charged_micros: 1,
        recorded_micros: 0,
        beyond_micros: 0,
        forgiven_micros: 0,
      })
      .execute()
  })
}

async function measureCallers(report: Report, store: Store): Promise<void> {
  const { calls, wallet, metering, by } = servicesOn(store)
  const callers = Array.from({ length: CALLERS }, (_, i) => address(i + 1))
  for (const caller of callers)
    await wallet.deposit({ caller_id: caller, amount_usd: 1_000, reference: `callers-${caller}` })
  const callAll = (each: number) =>
    Promise.all(
      callers.map(async (caller) => {
        for (let i = 0; i < each; i++) await metering.call(CALL, by(caller))
      }),
    )
  await callAll(3)
  const start = performance.now()
  await callAll(CALLS_OF_A_CALLER)
  const figure = (CALLERS * CALLS_OF_A_CALLER * 1_000) / (performance.now() - start)
  await calls.flush()
  report.add({ what: `metered calls, ${CALLERS} callers, PostgreSQL`, unit: 'req/s', figure, bar: { atLeast: 500 } })
}

async function measureTotals(report: Report, store: Store): Promise<void> {
  await seedReceipts(store)
  const { wallet } = servicesOn(store)
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + (n % DAYS))).toISOString()
  const times = await interleave(
    {
      all: () => wallet.usage({ limit: 50 }),
      days: () => wallet.usage({ limit: 50, group_by: 'day' }),
      caller: (turn) => wallet.usage({ limit: 50, caller_id: address(turn % CALLERS) }),
      range: (turn) => wallet.usage({ limit: 50, from: day(turn), to: day(turn + 7) }),
    },
    { warmups: 5, rounds: 50 },
  )
  await store.close()
  const named = { all: 'everyone', days: 'by day', caller: 'of one caller', range: 'of a week' }
  for (const [name, what] of Object.entries(named))
    report.add({
      what: `usage totals ${what}, ${RECEIPTS} receipts`,
      unit: 'ms',
      figure: times[name as keyof typeof named],
      bar: { atMost: 10 },
    })
}

/** SYNTHETIC receipts, spread over callers, models and days, and the sums that are kept of them. */
async function seedReceipts({ db }: Store): Promise<void> {
  await sql`insert into metered_calls (call_id, caller_id, model, at, path, counted_on, margin_micros, upstream_cost_micros,
      token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms)
    with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < ${RECEIPTS - 1})
    select 'call_' || printf('%032x', i), '0x' || printf('%040x', (i * 7919) % ${CALLERS}), 'model-' || (i % 3),
      strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || (i * ${DAYS} * 86400.0 / ${RECEIPTS}) || ' seconds'),
      '/api/wallet/metered/call', '2026-01-01', 80000, 300 + i % 100, 'pathUSD', 90, 10 + i % 30, 100 + i % 30, 0, 900
    from numbers`.execute(db)
  await sql`insert into metered_usage (caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros)
    select caller_id, substr(at, 1, 10), model, count(*), sum(total_tokens), sum(upstream_cost_micros), sum(margin_micros)
    from metered_calls group by 1, 2, 3`.execute(db)
}

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
