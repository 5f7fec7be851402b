import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { SessionGroupBy } from '../../src/calls/call-groups.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { noteFacts } from '../../src/coding-sessions/note-facts.ts'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import { usageCsv } from '../../src/wallet/receipts/usage-csv.ts'
import { usageReceipts, usageReport } from '../../src/wallet/receipts/usage-report.ts'
import { CALL } from './call-record.ts'
import { chargeCall, type OpenStore, walletOn } from './setup.ts'

const CALLS: Array<[at: string, caller: string, model: string, cost: number]> = [
  ['2026-11-19T23:59:59.999Z', 'a', 'x', 1],
  ['2026-11-20T00:00:00.000Z', 'a', 'y', 2],
  ['2026-11-20T12:00:00.000Z', 'b', 'x', 4],
  ['2026-11-20T12:00:00.000Z', 'a', 'x', 8],
  ['2026-11-21T06:00:00.000Z', 'b', 'y', 16],
  ['2026-11-21T18:00:00.000Z', 'a', 'x', 32],
]

/** Times, and some that UTC has in a year of another form than the others. */
const FAR = [
  '0000-01-01T00:00:00+05:00',
  '2026-12-01T00:00:00.000Z',
  '9999-12-31T12:00:00Z',
  '9999-12-31T23:59:59-05:00',
]

/** Makes a call and charges what it cost. */
function call(
  store: Store,
  made: { callId: string; at: string; callerId?: string; model?: string; costMicros?: number },
): Promise<void> {
  const { callerId = 'a', model = 'x', costMicros = 1, ...of } = made
  return chargeCall(store, {
    ...of,
    callerId,
    model,
    reserved: 1_000,
    margin: 100,
    cost: costMicros,
    credit: 1_000_000,
  })
}

/** Tests of the billing history, for every engine. `open` opens an empty store. */
export function usageContract(open: OpenStore): void {
  async function filled(t: TestContext) {
    const store = await open(t)
    for (const [i, [at, callerId, model, costMicros]] of CALLS.entries())
      await call(store, { callId: `call_${i}`, callerId, model, at, costMicros })
    return store
  }

  it('adds up any range of time as its receipts do', async (t) => {
    const store = await filled(t)
    const times = [undefined, ...CALLS.map(([at]) => at), '2026-11-20T11:00:00+02:00', ...FAR]
    for (const from of times)
      for (const to of times)
        for (const caller_id of [undefined, 'a', 'b', 'nobody']) {
          const inRange = CALLS.filter(
            ([at, caller]) =>
              (!from || Date.parse(at) >= Date.parse(from)) &&
              (!to || Date.parse(at) < Date.parse(to)) &&
              (!caller_id || caller === caller_id),
          )
          const cost = inRange.reduce((sum, [, , , micros]) => sum + micros, 0)
          const report = await usageReport(store, { limit: 100, from, to, caller_id, group_by: 'day' })
          assert.equal(report.items.length, inRange.length, `${from} to ${to} of ${caller_id}`)
          assert.equal(report.total, inRange.length)
          assert.deepEqual(report.totals, {
            calls: inRange.length,
            total_tokens: cost + inRange.length,
            upstream_cost_usd: toUsd(cost),
            margin_usd: toUsd(100 * inRange.length),
            total_usd: toUsd(cost + 100 * inRange.length),
          })
          assert.equal(
            report.groups.reduce((sum, { calls }) => sum + calls, 0),
            inRange.length,
          )
        }
  })

  it('keeps to the calls of one model, as whole days and parts of them', async (t) => {
    const store = await filled(t)
    for (const model of ['x', 'y', 'none'])
      for (const from of [undefined, CALLS[1]?.[0], CALLS[2]?.[0]])
        for (const group_by of ['day', 'model', 'repository'] as const) {
          const of = CALLS.filter(([at, , name]) => name === model && (from === undefined || at >= from))
          const report = await usageReport(store, { limit: 100, model, from, group_by })
          assert.deepEqual([report.items.length, report.totals.calls, report.total], Array(3).fill(of.length), model)
          assert.deepEqual([...new Set(report.items.map((receipt) => receipt.model))], of.length > 0 ? [model] : [])
          assert.equal(
            report.groups.reduce((sum, { calls }) => sum + calls, 0),
            of.length,
            group_by,
          )
        }
  })

  it('shows receipts and sums of one moment while calls are made', async (t) => {
    const store = await filled(t)
    let made = 0
    const making = (async () => {
      for (; made < 100; made++) await call(store, { callId: `call_more_${made}`, at: '2026-11-21T20:00:00.000Z' })
    })()
    for (let reads = 0; made < 100 || reads === 0; reads++) {
      const { items, totals } = await usageReport(store, { limit: 1000 })
      assert.equal(items.length, totals.calls)
    }
    await making
  })

  it('groups by day, model and caller', async (t) => {
    const store = await filled(t)
    const groups = async (group_by: 'day' | 'model' | 'caller') =>
      (await usageReport(store, { limit: 1, group_by })).groups.map(({ key, calls }) => [key, calls])
    assert.deepEqual(await groups('day'), [
      ['2026-11-19', 1],
      ['2026-11-20', 3],
      ['2026-11-21', 2],
    ])
    assert.deepEqual(await groups('model'), [
      ['x', 4],
      ['y', 2],
    ])
    assert.deepEqual(await groups('caller'), [
      ['a', 4],
      ['b', 2],
    ])
    const { by_caller, groups: none } = await usageReport(store, { limit: 1 })
    assert.deepEqual(
      by_caller.map(({ caller_id, calls }) => [caller_id, calls]),
      [
        ['a', 4],
        ['b', 2],
      ],
    )
    assert.deepEqual(none, [])
  })

  it('pages through the receipts, newest first, each of them once', async (t) => {
    const store = await filled(t)
    const seen: string[] = []
    let cursor: string | null | undefined
    do {
      const page = await usageReport(store, { limit: 2, ...(cursor && { cursor }) })
      assert.equal(page.total, CALLS.length)
      seen.push(...page.items.map(({ call_id }) => call_id))
      cursor = page.next_cursor
    } while (cursor)
    assert.deepEqual(seen, ['call_5', 'call_4', 'call_3', 'call_2', 'call_1', 'call_0'])
    const [newest] = (await usageReport(store, { limit: 1 })).items
    assert.deepEqual(newest, {
      call_id: 'call_5',
      caller_id: 'a',
      model: 'x',
      path: '/api/wallet/metered/call',
      at: '2026-11-21T18:00:00.000Z',
      usage: { prompt_tokens: 32, completion_tokens: 1, total_tokens: 33 },
      billing: { upstream_cost_usd: 0.000032, margin_usd: 0.0001, total_usd: 0.000132, token: 't' },
      latency_ms: 5,
      upstream_call_id: 'call_up',
      caller_name: null,
      group_id: null,
      session: null,
      upstream: 'test',
      price: null,
      charged: true,
      capped: false,
      stated: false,
      absorbed_usd: 0,
      debt_usd: 0,
      transfer: newest?.transfer,
    })
    assert.match(newest?.transfer ?? '', /^charge:call_/)
    for (const cursor of ['', 'bm8'])
      await assert.rejects(usageReport(store, { limit: 1, cursor }), { code: 'invalid_cursor' })
  })

  it('groups by what the sessions of calls worked on, and adds up to all receipts', async (t) => {
    const store = await filled(t)
    await store.db
      .updateTable('metered_calls')
      .set({ upstream_call_id: 'gone' })
      .where('call_id', '=', 'call_5')
      .execute()
    const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
    const client = { ...NO_SESSION, session_id: 's1', client: 'codex' }
    calls.record({ ...CALL, ...client, call_id: 'call_up', at: '2026-11-20T00:00:00.000Z', tags: ['nightly'] })
    await calls.flush()
    await noteFacts(
      store,
      { callerId: 'a', sessionId: 's1' },
      { repository: 'github.com/ann/shop', branch: 'main' },
      new Date(),
    )
    for (const [group_by, key] of Object.entries({
      session: 's1',
      repository: 'github.com/ann/shop',
      branch: 'main',
      client: 'codex',
      tag: 'nightly',
    })) {
      const { groups, totals } = await usageReport(store, { limit: 10, group_by: SessionGroupBy.parse(group_by) })
      assert.deepEqual(
        groups.map((group) => [group.key, group.calls, group.caller_id]),
        [
          [key, 5, group_by === 'session' ? 'a' : undefined],
          ['', 1, undefined],
        ],
      )
      const sum = groups.reduce((micros, { total_usd }) => micros + Math.round(total_usd * 1_000_000), 0)
      assert.equal(sum, Math.round(totals.total_usd * 1_000_000))
    }
    const { items } = await usageReceipts(store, { limit: 2 })
    assert.deepEqual(
      items.map(({ session }) => session),
      [null, 's1'],
    )
  })

  it('writes CSV that a spreadsheet reads and does not run', async (t) => {
    const store = await filled(t)
    await store.db.updateTable('metered_calls').set({ token: '=1+1,"x"' }).where('call_id', '=', 'call_5').execute()
    const lines: string[] = []
    for await (const line of usageCsv((query) => usageReceipts(store, query), { caller_id: 'a' })) lines.push(line)
    assert.equal(lines.length, 5)
    assert.equal(
      lines[0],
      'call_id,at,caller_id,model,prompt_tokens,completion_tokens,total_tokens,estimated,upstream_cost_usd,margin_usd,total_usd,token,latency_ms,caller_name,group_id,upstream,path,' +
        'cached_tokens,cache_write_tokens,cache_write_1h_tokens,tier,input_usd_per_1m,cached_input_usd_per_1m,' +
        'cache_write_usd_per_1m,cache_write_1h_usd_per_1m,output_usd_per_1m,price_from,price_source,price_date,' +
        'charged,capped,stated,transfer,absorbed_usd,debt_usd,audio_input_tokens,cached_audio_input_tokens,audio_output_tokens,' +
        'audio_input_usd_per_1m,cached_audio_input_usd_per_1m,audio_output_usd_per_1m,session,' +
        'image_input_tokens,cached_image_input_tokens,image_output_tokens,' +
        'image_input_usd_per_1m,cached_image_input_usd_per_1m,image_output_usd_per_1m,' +
        'video_input_tokens,cached_video_input_tokens,video_output_tokens,' +
        'video_input_usd_per_1m,cached_video_input_usd_per_1m,video_output_usd_per_1m\r\n',
    )
    assert.match(
      lines[1] ?? '',
      /^call_5,2026-11-21T18:00:00.000Z,a,x,32,1,33,no,0.000032,0.0001,0.000132,"'=1\+1,""x""",5,,,test,/,
    )
  })

  it('adds nothing up for the pages of the CSV', async (t) => {
    const store = await filled(t)
    await sql`drop table metered_usage`.execute(store.db)
    const lines: string[] = []
    for await (const line of walletOn(store, 'http://127.0.0.1:1').usageCsv({})) lines.push(line)
    assert.equal(lines.length, 1 + CALLS.length)
  })

  it('skips the requested number of newest receipts once, for any page size of the CSV', async (t) => {
    const store = await filled(t)
    const ids = async (query: { offset?: number; cursor?: string }) => {
      const lines = []
      for await (const line of usageCsv((page) => usageReceipts(store, { ...page, limit: 1 }), query)) lines.push(line)
      return lines.slice(1).map((line) => line.split(',')[0])
    }
    const all = await ids({})
    assert.equal(all.length, CALLS.length)
    for (const offset of [0, 1, 2, CALLS.length]) assert.deepEqual(await ids({ offset }), all.slice(offset))
    const { next_cursor } = await usageReport(store, { limit: 2 })
    assert.deepEqual(await ids({ cursor: next_cursor ?? '' }), all.slice(2))
  })
}
