import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { foldCalls } from '../../src/calls/fold-calls.ts'
import { createGroups } from '../../src/identity/groups.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { burnList } from '../../src/wallet/burn/burn.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import type { OpenStore } from './setup.ts'

/** A Saturday, 18.5 h into the day: 23.5 h after the first hour that counts. */
const NOW = '2026-11-21T18:30:00.000Z'
const WINDOW_SECONDS = 23.5 * 3600
const now = () => new Date(NOW)
const onError = (error: unknown) => assert.fail(String(error))

/** Tests of spending forecasts, for every engine. `open` opens an empty store. */
export function burnContract(open: OpenStore): void {
  async function start(t: Parameters<OpenStore>[0]) {
    const store = await open(t)
    const keys = createKeys({ store, now, fixedKey: null, onError })
    const groups = createGroups({ store, now })
    const calls = createCalls({ store, onError, writeSpending: writeCallSpending })
    let made = 0
    return {
      store,
      groups,
      revoke: keys.revoke,
      key: async (input: Parameters<typeof keys.create>[0]) => (await keys.create(input)).record,
      list: (page: { limit: number; cursor?: string; offset?: number } = { limit: 100 }) =>
        burnList({ store, now, marginMicros: 80_000, defaultCreditMicros: 10_000_000 }, page),
      /** A call of a key that cost `usd`. */
      async call(
        { id, group }: { id: string; group: string | null },
        usd: number,
        at = NOW,
        status: 'ok' | 'error' = 'ok',
      ) {
        const record = {
          call_id: `call_${made++}`,
          at,
          surface: 'http' as const,
          address: null,
          caller_id: id,
          path: '/v1/chat/completions',
          requested_model: null,
          model: 'm',
          upstream: 'double',
          stream: false,
          status,
          http_status: 200,
          fallback_from: null,
          price_from: null,
          provider_key: null,
          ...NO_SESSION,
          skipped: [],
          latency_ms: made,
          first_token_ms: null,
          usage: null,
          upstream_cost_usd: usd,
          error: null,
        }
        const spender = { id, groupId: group }
        calls.record(record, undefined, {
          spender,
          day: at.slice(0, 10),
          micros: Math.round(usd * 1e6),
          allowanceId: null,
          written() {},
        })
        await calls.flush()
      },
    }
  }

  it('sorts keys and groups by the time that is left to them at the rate of the last day', async (t) => {
    const { groups, key, call, list, store } = await start(t)
    const { id: group } = await groups.create({ name: 'team', budgets: [{ usd: 100, per: 'month' }] })
    const slow = await key({ name: 'slow', group, limits: { budgets: [{ usd: 50, per: 'total' }] } })
    const fast = await key({ name: 'fast', group, limits: { budgets: [{ usd: 2, per: 'day' }] } })
    const dry = await key({ name: 'dry', limits: { budgets: [{ usd: 1, per: 'week' }] } })
    const steady = await key({ name: 'steady', limits: { budgets: [{ usd: 20, per: 'day' }] } })
    await key({ name: 'idle', limits: { budgets: [{ usd: 1, per: 'day' }] } })
    const free = await key({ name: 'free' })
    await call(slow, 30, '2026-11-20T18:59:59.999Z')
    await call(slow, 6, '2026-11-20T19:00:00.000Z')
    await foldCalls(store, NOW, 100)
    await call(slow, 4, '2026-11-21T07:00:00.000Z')
    await call(fast, 1.9)
    await call(dry, 1, '2026-11-19T12:00:00.000Z')
    await call(steady, 6)
    await call(free, 3)
    const { items, total, next_cursor } = await list()
    assert.deepEqual(
      items.map(({ name, burned_24h_usd, runs_out, time_left_seconds }) => [
        name,
        burned_24h_usd,
        runs_out,
        time_left_seconds,
      ]),
      [
        ['dry', 0, 'budget', 0],
        ['fast', 1.9, 'budget', Math.floor((0.1 / 1.9) * WINDOW_SECONDS)],
        ['slow', 10, 'budget', WINDOW_SECONDS],
        ['team', 11.9, 'budget', Math.floor((58.1 / 11.9) * WINDOW_SECONDS)],
        // At its rate it lasts until it resets.
        ['steady', 6, null, null],
        ['idle', 0, null, null],
        ['free', 3, null, null],
      ],
    )
    assert.deepEqual([total, next_cursor], [7, null])
    assert.deepEqual(items[1]?.budget, {
      owner: fast.id,
      per: 'day',
      usd: 2,
      spent_usd: 1.9,
      left_usd: 0.1,
      resets_at: '2026-11-22T00:00:00.000Z',
    })
    assert.deepEqual([items[3]?.kind, items[3]?.budget?.spent_usd], ['group', 41.9])
    const first = await list({ limit: 4 })
    const rest = await list({ limit: 4, cursor: first.next_cursor ?? '' })
    assert.deepEqual([...first.items, ...rest.items], items)
    assert.deepEqual((await list({ limit: 2, offset: 1 })).items, items.slice(1, 3))
  })

  it('shows the budget of the group where that runs out first, and no key that has ended', async (t) => {
    const { groups, key, call, list, revoke } = await start(t)
    const { id: group } = await groups.create({ name: 'team', budgets: [{ usd: 5, per: 'total' }] })
    const one = await key({ name: 'one', group, limits: { budgets: [{ usd: 4, per: 'total' }] } })
    const other = await key({ name: 'other', group })
    const gone = await key({ name: 'gone', limits: { budgets: [{ usd: 1, per: 'total' }] } })
    await call(one, 1)
    await call(other, 3)
    await call(gone, 1)
    await revoke(gone.id)
    const { items } = await list()
    // A quarter of the last day: one by itself would last for three times as long.
    assert.deepEqual(
      items.map(({ id, budget, time_left_seconds }) => [id, budget?.owner, time_left_seconds]),
      [group, one.id, other.id].map((id) => [id, group, WINDOW_SECONDS / 4]),
    )
  })

  it('counts the margin of metered keys, and what money and credit are left to those that are charged', async (t) => {
    const { store, key, call, list } = await start(t)
    const metered = await key({ name: 'metered', billing: 'metered', limits: { credit_limit_usd: 0 } })
    const cost = await key({ name: 'cost', billing: 'cost' })
    await makeDeposit(store, { caller_id: metered.id, amount_usd: 1, reference: 'first' }, now(), {
      hasFixedKey: false,
    })
    await call(metered, 0.02)
    await call(metered, 0.01, NOW, 'error')
    await call(cost, 5)
    const { items } = await list()
    assert.deepEqual(
      items.map(({ name, balance, burned_24h_usd, runs_out, time_left_seconds }) => [
        name,
        balance,
        burned_24h_usd,
        runs_out,
        time_left_seconds,
      ]),
      [
        ['cost', { available_usd: 0, credit_limit_usd: 10, left_usd: 10 }, 5, 'balance', WINDOW_SECONDS * 2],
        [
          'metered',
          { available_usd: 1, credit_limit_usd: 0, left_usd: 1 },
          0.11,
          'balance',
          Math.floor((1 / 0.11) * WINDOW_SECONDS),
        ],
      ],
    )
  })
}
