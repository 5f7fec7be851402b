import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { putEmptyStore } from '../store/empty-store.ts'
import { newAddress } from '../wallet/setup.ts'
import { walletKills } from './wallet-kills.ts'
import { walletPrograms } from './wallet-process.ts'
import type { Step } from './wallet-spender.ts'

const PROCESSES = 3
const CALLERS = [newAddress(), newAddress()]

const programs = walletPrograms()
after(() => programs.remove())

const CALLS = 8

const number = fc.integer({ min: 0, max: CALLS - 1 })
const amount = fc.integer({ min: 1, max: 3_000 })
const move = fc.oneof(
  fc.record({ do: fc.constantFrom('deposit' as const, 'reserve' as const, 'void' as const), number }),
  fc.record({ do: fc.constant('capture' as const), number, cost: amount }),
)
type Move = { do: Step['do']; number: number; cost?: number }

/** A list of steps for each process. A call has its caller and its amount for good, and steps in all processes at once. */
const plans = fc
  .tuple(
    fc.array(amount, { minLength: CALLS, maxLength: CALLS }),
    fc.array(fc.array(move, { minLength: 20, maxLength: 40 }), { minLength: PROCESSES, maxLength: PROCESSES }),
  )
  .map(([amounts, lists]) => lists.map((moves) => moves.map((made) => stepOf(made, amounts))))

function stepOf({ do: what, number: call, cost = 1 }: Move, amounts: readonly number[]): Step {
  const caller = CALLERS[call % CALLERS.length] as string
  const micros = amounts[call] as number
  if (what === 'deposit') return { do: what, caller, micros, reference: `r${call}` }
  if (what === 'reserve') return { do: what, caller, micros, call }
  return what === 'void' ? { do: what, call } : { do: what, caller, micros, call, cost }
}

async function run(url: string, plans: readonly Step[][]): Promise<void> {
  const ends = await Promise.all(
    plans.map((plan) => programs.start('wallet-spender', [url, JSON.stringify(plan)]).ended),
  )
  assert.deepEqual(
    ends,
    plans.map(() => ({ code: 0, complaints: '' })),
  )
}

/** Sums of the accounts and of the calls. */
async function sums(store: Store) {
  const { faults, transfers, balances, head } = await verifyLedger(store)
  assert.deepEqual(faults, [])
  assert.equal(
    Object.values(balances).reduce((sum, micros) => sum + micros, 0),
    0,
  )
  const { rows } = await sql<{ held: number; margin: number; cost: number }>`select
    (select coalesce(sum(micros), 0) from allowances) as held,
    coalesce(sum(margin_micros), 0) as margin, coalesce(sum(upstream_cost_micros), 0) as cost
    from metered_calls`.execute(store.db)
  const { rows: usage } = await sql<{ margin: number; cost: number }>`select coalesce(sum(margin_micros), 0) as margin,
    coalesce(sum(upstream_cost_micros), 0) as cost from metered_usage`.execute(store.db)
  const { rows: days } = await sql<{
    spent: number
  }>`select coalesce(sum(charged_micros), 0) as spent from spending where day <> 'total'`.execute(store.db)
  const { held = 0, revenue = 0, upstream_cost = 0 } = balances
  assert.deepEqual(rows[0], { held, margin: revenue, cost: upstream_cost })
  assert.deepEqual(usage[0], { margin: revenue, cost: upstream_cost })
  assert.equal(days[0]?.spent, revenue + upstream_cost)
  return { transfers, head }
}

async function interleave(newStore: () => Promise<string>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(plans, async (chosen) => {
      const url = await newStore()
      const store = await openStore(url)
      try {
        await run(url, chosen)
        const before = await sums(store)
        const made = await store.db.selectFrom('ledger_transfers').select('key').where('kind', '=', 'deposit').execute()
        const known = new Set(made.map(({ key }) => key))
        const again = (step: Step) => step.do === 'deposit' && known.has(`deposit:${step.reference}`)
        await run(
          url,
          chosen.map((plan) => plan.filter(again)),
        )
        assert.deepEqual(await sums(store), before)
      } finally {
        await store.close()
      }
    }),
    { numRuns, endOnFailure: true },
  )
}

let opened = 0
it('keeps its sums and limits while processes reserve, capture, void and deposit on SQLite', { timeout: 120_000 }, () =>
  interleave(async () => {
    const folder = join(programs.folder, `${opened++}`)
    await putEmptyStore(folder)
    return `sqlite:${join(folder, 'gazeway.db')}`
  }, 3),
)

it('keeps its sums and limits while processes reserve, capture, void and deposit on PostgreSQL', {
  timeout: 120_000,
}, async () => {
  const server = await startPostgres()
  try {
    await interleave(() => server.databaseWithTables(), 2)
  } finally {
    await server.remove()
  }
})

walletKills(6)
