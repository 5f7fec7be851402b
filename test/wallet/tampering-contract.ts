import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { moneyOfCalls } from '../../src/wallet/receipts/call-receipts.ts'
import { writeRecorded } from '../../src/wallet/receipts/store-receipts.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { chargeCall, newAddress, newKey, type OpenStore, receiptOf } from './setup.ts'

const AT = '2026-11-21T08:00:00.000Z'

/** Changes to a store, each by hand, and the fault that names it. */
const CHANGES: ReadonlyArray<[what: string, change: string, fault: RegExp]> = [
  [
    'a negative allowance',
    `insert into allowances (id, holder, key_id, day, charged, micros, turn, granted, renewed_at) values ('alw_1', 'h', 'KEY', '2026-11-21', 0, -5, 1, 1, '${AT}')`,
    /^Allowance alw_1 of key_.* -5 micro-dollars/,
  ],
  [
    'an allowance of nobody',
    `insert into allowances (id, holder, key_id, day, charged, micros, turn, granted, renewed_at) values ('alw_1', 'h', 'nobody', '2026-11-21', 0, 5, 1, 1, '${AT}')`,
    /^Allowance alw_1: it is of nobody/,
  ],
  [
    'charged money of nobody',
    `insert into allowances (id, holder, key_id, day, charged, micros, turn, granted, renewed_at) values ('alw_1', 'h', 'nobody', '2026-11-21', 1, 5, 1, 1, '${AT}')`,
    /^Allowance alw_1: it is of nobody/,
  ],
  [
    'changed sums',
    'update metered_usage set total_tokens = total_tokens - 1',
    /^Usage of .* on 2026-11-21 with m: the stored sums/,
  ],
  [
    'a receipt whose money no transfer took',
    `update metered_calls set transfer = 'charge:other' where call_id = 'call_1'`,
    /^Transfer charge:other: receipts refer to it, but the ledger does not have it/,
  ],
  [
    'a transfer whose receipt is of another caller',
    `update metered_calls set caller_id = 'KEY' where call_id = 'call_1'`,
    /^Transfer charge:.*: its amounts differ from the sum of its receipts/,
  ],
  [
    'spending of a group without its calls',
    `insert into spending (owner, day, charged_micros, recorded_micros) values ('grp_1', '2026-11-21', 5, 0), ('grp_1', 'total', 5, 0)`,
    /^Spending of grp_1 on 2026-11-21: it is 5, its calls and escrows sum to 0/,
  ],
  [
    'calls of a group that its spending does not have',
    `update metered_calls set group_id = 'grp_1'; insert into spending (owner, day, charged_micros, recorded_micros) values ('grp_1', '2026-11-21', 0, 0)`,
    /^Spending of grp_1 on 2026-11-21: it is 0, its calls and escrows sum to 15/,
  ],
  ['deleted sums', 'delete from metered_usage', /^Usage of .* on 2026-11-21 with m: the stored sums/],
  [
    'fewer tokens in a receipt',
    'update metered_calls set prompt_tokens = 0',
    /^Receipt call_.*: its tokens do not sum/,
  ],
  [
    'more tokens in a receipt',
    `update metered_calls set prompt_tokens = prompt_tokens + 1000000, total_tokens = total_tokens + 1000000`,
    /^Receipt call_1: its tokens cost more/,
  ],
  [
    'another date of a receipt',
    `update metered_calls set at = '2026-11-20T08:00:00.000Z'`,
    /^Usage of .* on 2026-11-20/,
  ],
  [
    'an earlier hour of a receipt',
    `update metered_calls set at = '2026-11-21T07:00:00.000Z' where call_id = 'call_1'`,
    /^Receipt call_1: it is dated before its transfer/,
  ],
  [
    'zeroed spending of recorded calls',
    'update spending set recorded_micros = 0',
    /^Spending of key_.* on 2026-11-21: there is none, but its recorded calls cost 7/,
  ],
]

/** Tests of what is found in a store that was changed by hand, for every engine. `open` opens an empty store. */
export function tamperingContract(open: OpenStore): void {
  async function filled(t: TestContext) {
    const store = await open(t)
    const [payer, key] = [newAddress(), await newKey(store)]
    await store.db
      .updateTable('keys')
      .set({ billing: 'recorded', scopes: '["inference"]' })
      .where('id', '=', key)
      .execute()
    await chargeCall(store, {
      callId: 'call_1',
      callerId: payer,
      at: AT,
      reserved: 1_000,
      margin: 10,
      cost: 5,
      credit: 1_000,
    })
    const price = JSON.stringify({ input: 1, output: 0, tier: null, from: 'flat' })
    await sql`update metered_calls set price = ${price}`.execute(store.db)
    await sql`update metered_usage set price = ${price}`.execute(store.db)
    // In the order of chargeCall: the statement is built once.
    const of = { call_id: 'call_2', caller_id: key, at: AT, counted_on: '2026-11-21' }
    const receipt = receiptOf({ ...of, charged: 0, margin_micros: 0, upstream_cost_micros: 7 })
    const spender = { id: key, groupId: null }
    const spend = { spender, day: '2026-11-21', micros: 7, allowanceId: null, written() {}, receipt }
    await store.write((trx) => writeRecorded(trx, [spend], store.engine))
    await sql`insert into calls (call_id, at, surface, caller_id, path, upstream, stream, status, latency_ms,
      latency_bucket, usage_estimated, upstream_cost_micros)
      values ('call_2', ${AT}, 'http', ${key}, '/v1/chat/completions', 'test', 0, 'ok', 1, 1, 0, 7)`.execute(store.db)
    return { store, key }
  }

  it('finds nothing in a store that only Gazeway has written', async (t) => {
    const { store } = await filled(t)
    assert.deepEqual(await callFaults(store), [])
  })

  it('computes receipts with speech and images again, and sums them with others at the same rates', async (t) => {
    const { store, key } = await filled(t)
    const text = { input: 1, output: 1, cached_input: 1 }
    const rates = { ...text, audio_input: 30, cached_audio_input: 5, audio_output: 60, image_output: 90 }
    const spoken = (input: number, cached: number, output: number) => {
      const audio = { input_tokens: input, cached_input_tokens: cached, output_tokens: output }
      return JSON.stringify({ ...rates, tier: null, from: 'configuration', id: 'm', audio })
    }
    const painted = (tokens: number) => {
      const image = { input_tokens: 0, cached_input_tokens: 0, output_tokens: tokens }
      return JSON.stringify({ ...rates, tier: null, from: 'configuration', id: 'm', image })
    }
    // 2 + 1 × 29, 1 + 3 × 1 + 2 × 4 + 1 × 59, and 2 + 1 × 89
    const all = [
      receiptOf({ ...spokenCall('call_3', key), price: spoken(1, 0, 0), upstream_cost_micros: 31 }),
      receiptOf({
        ...spokenCall('call_4', key),
        ...{ price: spoken(0, 2, 1), upstream_cost_micros: 71 },
        ...{ prompt_tokens: 3, cached_tokens: 2, total_tokens: 4 },
      }),
      receiptOf({ ...spokenCall('call_5', key), price: painted(1), upstream_cost_micros: 91 }),
    ]
    const spender = { id: key, groupId: null }
    const spends = all.map((receipt) => ({
      ...{ spender, day: '2026-11-21', micros: receipt.upstream_cost_micros, allowanceId: null, written() {}, receipt },
    }))
    await store.write((trx) => writeRecorded(trx, spends, store.engine))
    const sums = await store.db
      .selectFrom('metered_usage')
      .select(['calls', 'price'])
      .where('model', '=', 'spoken')
      .execute()
    assert.deepEqual(
      sums.map(({ calls, price }) => [Number(calls), 'audio' in JSON.parse(price), 'image' in JSON.parse(price)]),
      [[3, false, false]],
    )
    const faults = (found: string[]) =>
      found.filter((fault) => /^(?:Receipt|Usage)/.test(fault) && !fault.includes('record'))
    assert.deepEqual(faults(await callFaults(store)), [])
    await sql`update metered_calls set price = ${spoken(0, 3, 1)}, cached_tokens = 3 where call_id = 'call_4'`.execute(
      store.db,
    )
    assert.match(faults(await callFaults(store)).join(), /^Receipt call_4: its tokens cost more than it says\.$/)
    await sql`update metered_calls set price = ${painted(2)} where call_id = 'call_5'`.execute(store.db)
    assert.match(faults(await callFaults(store)).join(), /Receipt call_5: its tokens cost more than it says\./)
  })

  it('stores a price that receipts share once, and computes each of them again with it', async (t) => {
    const { store, key } = await filled(t)
    const price = (input: number) => JSON.stringify({ input, output: 0, tier: null, from: 'flat', id: 'shared' })
    const add = async (call_id: string) => {
      const receipt = receiptOf({ ...sharedCall(call_id, key), price: price(2), upstream_cost_micros: 2 })
      const spender = { id: key, groupId: null }
      const spend = { spender, day: '2026-11-21', micros: 2, allowanceId: null, written() {}, receipt }
      await store.write((trx) => writeRecorded(trx, [spend], store.engine))
    }
    for (const id of ['call_3', 'call_4']) await add(id)
    const shared = await store.db
      .selectFrom('metered_calls')
      .select(['price', 'price_number'])
      .where('model', '=', 'shared')
      .execute()
    const prices = await store.db.selectFrom('receipt_prices').selectAll().where('price', '=', price(2)).execute()
    assert.equal(prices.length, 1)
    const stored = { price: '', price_number: prices[0]?.number }
    assert.deepEqual(shared, [stored, stored])
    const { receipts } = await moneyOfCalls(store, ['call_3', 'call_4'])
    assert.deepEqual(
      receipts.map((receipt) => receipt.price),
      [JSON.parse(price(2)), JSON.parse(price(2))],
    )
    const faults = async () => (await callFaults(store)).filter((fault) => /^(?:Receipt|Usage)/.test(fault))
    assert.deepEqual(await faults(), [])
    await store.db
      .updateTable('receipt_prices')
      .set({ price: price(3) })
      .where('price', '=', price(2))
      .execute()
    assert.deepEqual(
      (await faults()).filter((fault) => fault.startsWith('Receipt')),
      ['call_3', 'call_4'].map((id) => `Receipt ${id}: its tokens cost more than it says.`),
    )
  })

  for (const [what, change, fault] of CHANGES)
    it(`finds ${what}`, async (t) => {
      const { store, key } = await filled(t)
      for (const statement of change.replaceAll('KEY', key).split(';')) await sql.raw(statement).execute(store.db)
      const faults = await callFaults(store)
      assert.ok(
        faults.some((found) => fault.test(found)),
        `${faults.join('\n')} has ${fault}`,
      )
    })
}

const sharedCall = (call_id: string, caller_id: string) => ({ ...spokenCall(call_id, caller_id), model: 'shared' })

const spokenCall = (call_id: string, caller_id: string) => ({
  ...{ call_id, caller_id, at: AT, counted_on: '2026-11-21', model: 'spoken' },
  ...{ charged: 0, margin_micros: 0 },
})
