import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { createHolds, type NewHold } from '../../src/wallet/holds.ts'
import { createLimits } from '../../src/wallet/limits.ts'
import { keysOn, newAddress, newKey, type OpenStore } from './setup.ts'

const BEGAN = '2026-11-21T23:59:50.000Z'
const ENDED = '2026-11-22T00:00:10.000Z'
const DAY = '2026-11-21'

/** What becomes of the daily limit where it changes while calls are being made, on every engine. `open` opens an empty store. */
export function dailyLimitContract(open: OpenStore): void {
  /** Calls of one caller that each set 100 micro-dollars aside, under a daily limit that the test changes. */
  async function start(t: TestContext, dailyMicros: number | null) {
    const store = await open(t)
    const callerId = newAddress()
    const limits = { creditMicros: 1_000_000, dailyMicros }
    const holds = createHolds({
      store,
      now: () => new Date(ENDED),
      limitsOf: async () => ({ ...limits }),
      onOverrun: () => {},
    })
    const hold = (callId: string): NewHold => ({
      callId,
      callerId,
      model: 'm',
      at: BEGAN,
      deadline: BEGAN,
      micros: 100,
      marginMicros: 10,
      token: 't',
      idempotencyKey: null,
      fingerprint: null,
    })
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    return {
      store,
      limits,
      sweep: () => holds.sweep(100),
      reserve: async (...callIds: string[]) => {
        for (const callId of callIds) assert.equal(await holds.reserve(hold(callId)), null)
      },
      release: (callId: string) => holds.release(callId),
      capture: (callId: string, costMicros: number) =>
        holds.capture(hold(callId), { content: '', usage, costMicros, upstreamCallId: 'call_up', latencyMs: 5 }),
      spent: async () => {
        const of = store.db.selectFrom('daily_spending').select(['day', 'spent_micros'])
        return (await of.where('caller_id', '=', callerId).execute()).map((row) => [row.day, row.spent_micros])
      },
    }
  }

  it('does not count calls towards a limit that was set after they began', async (t) => {
    const { limits, reserve, release, capture, sweep, spent } = await start(t, null)
    await reserve('failing', 'cheap', 'dear', 'lost')
    limits.dailyMicros = 150
    await reserve('counted')
    await release('failing')
    await capture('cheap', 20)
    const { upstream_cost_micros } = await capture('dear', 500)
    assert.equal(upstream_cost_micros, 90)
    assert.deepEqual(await spent(), [[DAY, 100]])
    await capture('counted', 20)
    await sweep()
    assert.deepEqual(await spent(), [[DAY, 30]])
    await reserve('more')
    await assert.rejects(reserve('too much'), { code: 'daily_limit_reached' })
  })

  it('gives back what was counted towards a limit that was removed and set again', async (t) => {
    const { limits, reserve, release, capture, sweep, spent } = await start(t, 400)
    await reserve('failing', 'cheap', 'dear', 'lost')
    limits.dailyMicros = null
    await release('failing')
    await capture('cheap', 20)
    await capture('dear', 500)
    assert.deepEqual(await spent(), [[DAY, 30 + 100 + 100]])
    await sweep()
    limits.dailyMicros = 230
    await reserve('more')
    assert.deepEqual(await spent(), [[DAY, 230]])
    await assert.rejects(reserve('too much'), { code: 'daily_limit_reached' })
  })

  it('reads limits anew once they are forgotten, and does not remember what was being read then', async (t) => {
    const { store } = await start(t, null)
    const id = await newKey(store, { credit_limit_usd: 5 })
    const keys = keysOn(store)
    const limits = createLimits(store, 0)
    const before = limits.of(id)
    limits.forget(id)
    assert.deepEqual(await before, { creditMicros: 5_000_000, dailyMicros: null })
    await keys.change(id, { limits: { credit_limit_usd: 0, budgets: [{ usd: 1, per: 'day' }] } })
    assert.deepEqual(await limits.of(id), { creditMicros: 0, dailyMicros: 1_000_000 })
    await keys.close()
  })
}
