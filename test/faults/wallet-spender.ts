import { GazewayError } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { createHolds, type NewHold } from '../../src/wallet/receipts/holds.ts'

/** One thing that a spender does. Calls are named by number, the same in all processes. */
export type Step =
  | { do: 'deposit'; caller: string; micros: number; reference: string }
  | { do: 'reserve'; caller: string; micros: number; call: number }
  | { do: 'capture'; caller: string; micros: number; call: number; cost: number }
  | { do: 'void'; call: number }

/** Credit limit of callers in these tests. */
const CREDIT = 5_000
const AT = '2026-11-21T07:17:52.000Z'

/** Takes the steps one after the other: `wallet-spender STORE-URL STEPS`; refusals are part of the game. */
const [url = '', steps = '[]'] = process.argv.slice(2)
const store = await openStore(url)
const limitsOf = async () => ({ creditMicros: CREDIT, groupId: null })
const holds = createHolds({ store, now: () => new Date(AT), limitsOf, onOverrun: () => {} })

for (const step of JSON.parse(steps) as Step[]) {
  await take(step).catch((error: unknown) => {
    const expected = ['insufficient_credit', 'budget_reached', 'upstream_timeout']
    if (!(error instanceof GazewayError && expected.includes(error.code))) throw error
  })
  const passed = await store.db
    .selectFrom('ledger_accounts')
    .select(['id', 'balance_micros'])
    .where('kind', 'in', ['caller', 'held'])
    .execute()
  for (const { id, balance_micros } of passed)
    if (balance_micros < (id.startsWith('caller') ? -CREDIT : 0)) throw new Error(`${id} is at ${balance_micros}.`)
}
await store.close()

async function take(step: Step): Promise<void> {
  if (step.do === 'deposit') {
    const { caller, micros, reference } = step
    await makeDeposit(store, { caller_id: caller, amount_usd: micros / 1_000_000, reference }, new Date(AT))
  }
  if (step.do === 'reserve') await holds.reserve(holdOf(step))
  if (step.do === 'void') await holds.release(`call_${step.call}`)
  if (step.do === 'capture') {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const captured = { content: '', usage, costMicros: step.cost, upstreamCallId: 'call_up', latencyMs: 1 }
    await holds.capture(holdOf(step), captured)
  }
}

function holdOf({ caller, micros, call }: { caller: string; micros: number; call: number }): NewHold {
  return {
    callId: `call_${call}`,
    callerId: caller,
    model: 'm',
    at: AT,
    deadline: AT,
    micros,
    marginMicros: 1,
    token: 't',
    idempotencyKey: null,
    fingerprint: null,
  }
}
