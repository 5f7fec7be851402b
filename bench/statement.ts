import { sql } from 'kysely'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { buildStatement } from '../src/wallet/statements/build-statement.ts'
import type { Subject } from '../src/wallet/statements/statement-subject.ts'
import { longestHold } from './longest-hold.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'

const MONTH = '2026-10'
const DAYS = 31
const CALLERS = 1_000
const MODELS = 3

/** Times the statement of a month with as many receipts, for everyone and for one caller, and how long it blocks. */
export async function measureStatement(report: Report, file: string, receipts: number): Promise<void> {
  const store = await openStore(`sqlite:${file}`)
  await seedMonth(store, receipts)
  const one = callerOf(1)
  const subjects: Record<string, Subject> = {
    everyone: { kind: 'all', id: null, callers: null },
    'one caller': { kind: 'caller', id: one, callers: [one] },
  }
  const build = (subject: Subject) => buildStatement(store, MONTH, subject)
  const { charges } = await build(subjects.everyone as Subject)
  const counted = charges.reduce((sum, { calls }) => sum + calls, 0)
  if (counted !== receipts) throw new Error(`The statement has ${counted} of ${receipts} receipts.`)
  const tasks = Object.fromEntries(Object.entries(subjects).map(([name, subject]) => [name, () => build(subject)]))
  const times = await interleave(tasks, { warmups: 1, rounds: 5 })
  for (const [name, subject] of Object.entries(subjects)) {
    const what = `a month's statement of ${name}, ${receipts.toLocaleString('en')} receipts, SQLite`
    report.add({ what, unit: 'ms', figure: times[name] ?? 0, bar: { atMost: 2_000 } })
    const held = await longestHold(() => build(subject))
    report.add({ what: `longest stall of the process by ${what}`, unit: 'ms', figure: held, bar: { atMost: 100 } })
  }
  await store.close()
}

const callerOf = (n: number): string => `key_${String(n).padStart(16, '0')}`

/** SYNTHETIC receipts of a month with their transfers and sums, and a deposit of each caller. */
async function seedMonth({ db }: Store, receipts: number): Promise<void> {
  const numbers = (count: number) =>
    sql`with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < ${sql.lit(count - 1)})`
  const caller = sql`'key_' || printf('%016d', i % ${sql.lit(CALLERS)})`
  const at = sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${`${MONTH}-01`}, '+' || (i * ${sql.lit(DAYS * 86_400)}.0 / ${sql.lit(receipts)}) || ' seconds')`
  const price = JSON.stringify({ input: 1, output: 4, tier: null, from: 'configuration', id: 'model' })
  await sql`insert into metered_calls (call_id, caller_id, model, at, path, counted_on, margin_micros, upstream_cost_micros,
      token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms, upstream, price, charged)
    ${numbers(receipts)}
    select 'call_' || printf('%032x', i), ${caller}, 'model-' || (i % ${sql.lit(MODELS)}), ${at}, '/v1/chat/completions',
      ${`${MONTH}-01`}, 80000, 300 + i % 100, 'pathUSD', 90, 10 + i % 30, 100 + i % 30, 0, 900, 'openai', ${price}, 1
    from numbers`.execute(db)
  await sql`insert into metered_usage (caller_id, day, model, upstream, price, charged, calls, total_tokens, prompt_tokens,
      completion_tokens, upstream_cost_micros, margin_micros)
    select caller_id, substr(at, 1, 10), model, upstream, price, charged, count(*), sum(total_tokens), sum(prompt_tokens),
      sum(completion_tokens), sum(upstream_cost_micros), sum(margin_micros)
    from metered_calls group by 1, 2, 3, 4, 5, 6`.execute(db)
  await sql`insert into ledger_transfers (key, chain, position, kind, entries, at, hash)
    ${numbers(receipts)}
    select 'charge-' || i, 'caller:' || ${caller}, 2 + i / ${sql.lit(CALLERS)}, 'charge',
      '[{"account":"caller:' || ${caller} || '","micros":-80300},{"account":"revenue","micros":80300}]', ${at}, ''
    from numbers`.execute(db)
  await sql`insert into ledger_transfers (key, chain, position, kind, entries, at, hash)
    ${numbers(CALLERS)}
    select 'deposit-' || i, 'caller:' || ${caller}, 1, 'deposit',
      '[{"account":"caller:' || ${caller} || '","micros":1000000},{"account":"deposits:' || ${caller} || '","micros":-1000000}]',
      ${`${MONTH}-01T00:00:00.000Z`}, ''
    from numbers`.execute(db)
}
