import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { KyselyPlugin } from 'kysely'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { type Calls, createCalls } from '../../src/calls/calls.ts'
import { foldCalls } from '../../src/calls/fold-calls.ts'
import { callSweeps } from '../../src/calls/retention.ts'
import { watchCalls } from '../../src/calls/watch-calls.ts'
import { MAX_COUNTED } from '../../src/store/page.ts'
import type { Store } from '../../src/store/store.ts'
import { callOf } from './calls.ts'
import { runsOn } from './runs-on.ts'

const MINUTE = 60_000
const START = Date.parse('2026-03-01T00:00:00.000Z')
const DAYS = 40

/**
 * Calls of forty days: three an hour of a frequent model and path, at times two in one millisecond; of a rare model one in
 * most weeks, once many in an hour; and of a model that was in use for five days. They come from three addresses.
 */
const CALLS: CallRecord[] = Array.from({ length: DAYS * 72 }, (_, i) => ({
  ...callOf(i % 3 ? 'key_a' : 'key_b'),
  call_id: `call_${i.toString(16).padStart(32, '0')}`,
  at: new Date(START + (i - (i % 10 === 1 ? 1 : 0)) * 20 * MINUTE).toISOString(),
  model: modelOf(i),
  path: i % 500 === 3 ? '/v1/embeddings' : '/v1/chat/completions',
  status: i % 9 ? 'ok' : 'error',
  address: `203.0.113.${i % 3}`,
  upstream: i % 5 ? 'double' : 'other',
}))

function modelOf(i: number): string {
  if (i % 600 === 7 || (i > 1000 && i < 1006)) return 'rare'
  return i > 400 && i < 760 ? 'passing' : 'frequent'
}

/** Filters that the sums do not count. */
const LOOKED_THROUGH = [
  ...['frequent', 'rare', 'passing'].map((model) => ({ model, address: '203.0.113.1' })),
  { model: 'frequent', address: '203.0.113.7' },
  { model: 'rare', upstream: 'other' },
  { model: 'rare', caller_id: 'key_a', upstream: 'double' },
  { model: 'frequent', status: 'error' as const, address: '203.0.113.0' },
  { path: '/v1/embeddings', address: '203.0.113.2' },
]

const FILTERS = [
  ...['frequent', 'rare', 'passing', 'none'].map((model) => ({ model })),
  ...['/v1/chat/completions', '/v1/embeddings', '/none'].map((path) => ({ path })),
  { model: 'rare', caller_id: 'key_a' },
  { model: 'passing', path: '/v1/embeddings' },
  { model: 'frequent', status: 'error' as const },
  ...LOOKED_THROUGH,
]

const isLookedThrough = (filter: (typeof FILTERS)[number]) => 'address' in filter || 'upstream' in filter

/** Tests of lists of a model or path, which the sums of hours lead to, for every engine. `open` opens an empty store. */
export function rareCallsContract(open: () => Promise<Store>): void {
  describe('calls of a model or path', () => {
    let store: Store
    let calls: Calls
    let kept = CALLS.toReversed()
    before(async () => {
      store = await open()
      calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
      for (const call of CALLS) calls.record(call)
      await calls.flush()
    })
    after(() => store.close())

    const place = ({ at, call_id }: CallRecord) => `${at} ${call_id}`
    const matches = (filter: (typeof FILTERS)[number], { from = '', to = '9' }: { from?: string; to?: string }) =>
      kept
        .filter((call) => Object.entries(filter).every(([name, value]) => call[name as keyof CallRecord] === value))
        .filter(({ at }) => at >= from && at < to)
        .sort((a, b) => (place(a) < place(b) ? 1 : -1))
        .map(({ call_id }) => call_id)

    async function listsAll(): Promise<void> {
      const minutes = fc.integer({ min: -60, max: (DAYS + 1) * 1440 })
      const time = fc.option(minutes.map((after) => new Date(START + after * MINUTE).toISOString()))
      const ofPage = { limit: fc.integer({ min: 1, max: 40 }), offset: fc.nat(60) }
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...FILTERS),
          fc.record({ from: time, to: time }),
          fc.record(ofPage),
          async (filter, range, page) => {
            const times = { ...(range.from && { from: range.from }), ...(range.to && { to: range.to }) }
            const expected = matches(filter, times)
            const { limit, offset } = page
            const list = async (more: { offset?: number; cursor?: string }) => {
              const { items, total, next_cursor } = await calls.history({ ...filter, ...times, limit, ...more })
              return { ids: items.map(({ call_id }) => call_id), total, next_cursor }
            }
            assert.deepEqual((await list({ offset })).ids, expected.slice(offset, offset + limit))
            const first = await list({})
            if (isLookedThrough(filter)) {
              const totals = [first.total, (await list({ offset })).total]
              const total = Math.min(expected.length, MAX_COUNTED)
              assert.deepEqual(totals, [total, total])
            }
            assert.equal(first.next_cursor === null, expected.length <= limit)
            if (first.next_cursor !== null)
              assert.deepEqual((await list({ cursor: first.next_cursor })).ids, expected.slice(limit, 2 * limit))
          },
        ),
        { numRuns: runsOn(store, 140), endOnFailure: true },
      )
    }

    it('are listed before any hour is folded', listsAll)

    it('are listed when some hours are folded', async () => {
      await foldCalls(store, new Date(START + 20 * 1440 * MINUTE).toISOString(), 100_000)
      await listsAll()
    })

    it('are listed after older ones were pruned, also in the middle of an hour', async () => {
      const now = () => new Date(START + (DAYS + 1) * 1440 * MINUTE)
      const [prune] = callSweeps(store, now, () => 34).filter(({ name }) => name === 'audit.retention')
      const limit = 72 * 6 + 1
      assert.equal(await prune?.batch(limit), limit)
      kept = CALLS.slice(limit).reverse()
      assert.equal((await calls.history({ limit: 1 })).total, kept.length)
      await listsAll()
    })

    it('are watched', async () => {
      const watch = calls.watch({ model: 'rare' })
      assert.deepEqual(await watch(), [])
      const added = { ...callOf('key_a'), at: new Date().toISOString(), model: 'rare' }
      calls.record(added)
      calls.record({ ...callOf('key_a'), at: new Date().toISOString(), model: 'frequent' })
      assert.deepEqual(
        (await watch()).map(({ call_id }) => call_id),
        [added.call_id],
      )
    })

    it('are watched in a window of an hour that goes with the reads, each call once', async () => {
      const began = Date.parse('2026-05-01T00:20:00.000Z')
      let minute = 0
      const watched = [{ model: 'watched' }, { model: 'watched', address: '203.0.113.1' }, { min_cost_usd: 7 }]
      const watches = watched.map((filter) =>
        watchCalls(store, filter, 'model' in filter ? [filter.model] : undefined, () => began + minute * MINUTE),
      )
      const record = (atMinute: number) => {
        const at = new Date(began + atMinute * MINUTE).toISOString()
        const call = { ...callOf('key_a'), at, model: 'watched', address: '203.0.113.1', upstream_cost_usd: 7 }
        calls.record(call)
        return call.call_id
      }
      async function see(expected: readonly string[]): Promise<void> {
        await calls.flush()
        for (const watch of watches)
          assert.deepEqual(
            (await watch()).map(({ call_id }) => call_id),
            expected,
          )
      }
      record(-59)
      await see([])
      const first = [record(-1), record(-59.5)]
      await see(first)
      await see([])
      minute = 50
      await see([record(49)])
      record(-11)
      const long = record(-9)
      await see([long])
      minute = 500
      // The whole time since the read before is looked through, and the hour before that.
      await see([record(499), record(60), record(-9)])
      await see([])
      record(439)
      const late = record(441)
      await see([late])
      // A burst comes in parts, of which the first has the oldest: none of the others is too old for the next read.
      const burst = Array.from({ length: 120 }, (_, i) => record(441.5 + i / 1000)).reverse()
      minute = 502
      await see(burst.slice(20))
      await see(burst.slice(0, 20))
      minute = 400
      await see([])
      await see([record(450)])
    })

    it('are not looked for until their number changes, or for ten seconds', async () => {
      const began = Date.parse('2026-06-01T00:20:00.000Z')
      const later = (seconds: number) => new Date(began + seconds * 1000)
      const path = '/v1/chat/completions'
      const record = (seconds: number, change: Partial<CallRecord> = {}) => {
        const call = { ...callOf('key_a'), at: later(seconds).toISOString(), path, ...change }
        calls.record(call)
        return call.call_id
      }
      let [seconds, reads] = [0, 0]
      const counter: KyselyPlugin = {
        transformQuery({ node }) {
          reads += 1
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const recorded = { ...store, reads: store.reads.withPlugin(counter) }
      const watch = watchCalls(recorded, { path }, undefined, () => later(seconds).getTime())
      async function see(expected: readonly string[], isRead: boolean): Promise<void> {
        await calls.flush()
        reads = 0
        assert.deepEqual(
          (await watch()).map(({ call_id }) => call_id),
          expected,
        )
        assert.equal(reads > 0, isRead)
      }
      record(-1)
      await see([], true)
      await see([], false)
      record(0, { path: '/v1/embeddings' })
      await see([], false)
      await see([record(-3000)], true)
      const [prune] = callSweeps(
        store,
        () => new Date(START + (DAYS + 1) * 1440 * MINUTE),
        () => 34,
      ).filter(({ name }) => name === 'audit.retention')
      assert.equal(await prune?.batch(1), 1)
      const hidden = record(0)
      seconds = 9
      await see([], false)
      seconds = 10
      await see([hidden], true)
      await see([], false)
      seconds = 21
      await see([], true)
    })
  })
}
