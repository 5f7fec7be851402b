import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { CallCache } from '../../src/calls/call-cache.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { type Calls, createCalls } from '../../src/calls/calls.ts'
import { foldCalls } from '../../src/calls/fold-calls.ts'
import { GazewayError } from '../../src/errors.ts'
import { createRefusals } from '../../src/inference/admit/refusals.ts'
import type { Store } from '../../src/store/store.ts'
import { newId } from '../../src/text/ids.ts'
import { toUsd } from '../../src/text/money.ts'
import { runsOn } from './runs-on.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-03-01T00:00:00.000Z')

/** Tokens that some of the calls read from a prompt cache, and its effect. */
const READ = { cached_tokens: 3, cache_write_tokens: 1 }
const EFFECT: CallCache = { saved_usd: 0.000_005, missed_tokens: 7, missed_usd: 0.000_002, changed: null }

/** Ten days of calls, one every 20 minutes, of two models and three callers; every seventh failed. */
const CALLS: CallRecord[] = Array.from({ length: 720 }, (_, i) => ({
  call_id: newId('call'),
  at: new Date(START + (i * HOUR) / 3 + i).toISOString(),
  surface: 'http',
  address: '203.0.113.7',
  caller_id: [null, 'key_a', 'key_b'][i % 3] ?? null,
  path: '/v1/chat/completions',
  requested_model: 'm',
  model: i % 2 ? 'model-a' : 'model-b',
  upstream: 'double',
  stream: i % 4 === 0,
  status: i % 7 ? 'ok' : 'error',
  http_status: 200,
  fallback_from: null,
  price_from: null,
  provider_key: null,
  ...NO_SESSION,
  skipped: i % 2 === 0 ? [] : [{ upstream: 'first', reason: 'circuit_open' }],
  latency_ms: 1 + ((i * 37) % 900),
  first_token_ms: null,
  usage: i % 5 ? { prompt_tokens: i, completion_tokens: 1, total_tokens: i + 1, ...(i % 4 === 3 && READ) } : null,
  upstream_cost_usd: (i % 5 ? 3 * (i + 1) : 0) / 1_000_000,
  ...(i % 4 === 3 && { cache: EFFECT }),
  ...(i % 3 === 1 && { timing: { queue_ms: i % 2, first_byte_ms: i, first_thought_ms: null, first_text_ms: null } }),
  error: null,
  ...(i % 3 === 0 && { changed: ['top_k=dropped'] }),
}))

/** A call that began before all others. */
export const callOf = (caller_id: string): CallRecord => ({
  ...(CALLS[0] as CallRecord),
  call_id: newId('call'),
  at: new Date(START - 40 * HOUR).toISOString(),
  caller_id,
})

/** Tests of the audit trail, for every engine. `open` opens an empty store. */
export function callsContract(open: () => Promise<Store>): void {
  describe('the audit trail', () => {
    let store: Store
    let calls: Calls

    before(async () => {
      store = await open()
      calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
      for (const call of CALLS) calls.record(call)
      await calls.flush()
    })
    after(() => store.close())

    it('gives back each record as it was, newest first, in pages', async () => {
      const seen: CallRecord[] = []
      let cursor: string | null = null
      do {
        const page = await calls.history({ limit: 101, ...(cursor ? { cursor } : {}) })
        assert.equal(page.total, CALLS.length)
        seen.push(...page.items)
        cursor = page.next_cursor
      } while (cursor)
      assert.deepEqual(seen, CALLS.toReversed())
    })

    it('knows who made what an upstream keeps, and where', async () => {
      const apart = await open()
      const [first, second] = [{ ...callOf('key_a') }, { ...callOf('key_b'), upstream: 'other' }]
      const own = createCalls({ store: apart, onError: (error) => assert.fail(String(error)) })
      own.record(first, undefined, null, ['file-1', 'file-2', 'file-1'])
      own.record(second, undefined, null, ['file-2', 'no id, as it has spaces'])
      own.record({ ...callOf('key_a'), upstream: 'later' }, undefined, null, ['file-1'])
      const ids = ['file-1', 'file-2', 'file-3', 'no id, as it has spaces']
      const seenBy = async (caller: string | null) => Object.fromEntries(await own.ownersOf(ids, caller))
      const [mine, notMine] = [
        { upstream: 'double', isOwn: true },
        { upstream: 'double', isOwn: false },
      ]
      assert.deepEqual(await seenBy('key_a'), { 'file-1': mine, 'file-2': mine })
      assert.deepEqual(await seenBy('key_b'), { 'file-1': notMine, 'file-2': { upstream: 'other', isOwn: true } })
      assert.deepEqual(await seenBy(null), { 'file-1': notMine, 'file-2': notMine })
      const many = Array.from({ length: 1200 }, (_, i) => `file-${i}`)
      assert.deepEqual([...(await own.ownersOf(many, 'key_a')).keys()].sort(), ['file-1', 'file-2'])
      await apart.close()
    })

    it('gives back what of a prompt was cached', async () => {
      const apart = await open()
      const own = createCalls({ store: apart, onError: (error) => assert.fail(String(error)) })
      const usage = {
        prompt_tokens: 9,
        completion_tokens: 1,
        total_tokens: 10,
        cached_tokens: 4,
        cache_write_tokens: 3,
      }
      const call = { ...callOf('key_cached'), usage }
      own.record(call)
      const [kept] = (await own.history({ limit: 5, caller_id: 'key_cached' })).items
      assert.deepEqual(kept, call)
      await apart.close()
    })

    it('filters, and counts what it filtered', async () => {
      const filter = { status: 'error' as const, model: 'model-a', caller_id: 'key_a', limit: 1000 }
      const expected = CALLS.filter((c) => c.status === 'error' && c.model === 'model-a' && c.caller_id === 'key_a')
      const page = await calls.history(filter)
      assert.deepEqual(page.items, expected.toReversed())
      assert.equal(page.total, expected.length)
    })

    it('counts calls whose client says no kind to the kind main, in lists, figures and as they arrive', async () => {
      const apart = await open()
      const own = createCalls({ store: apart, onError: (error) => assert.fail(String(error)) })
      const at = new Date().toISOString()
      const of = { kind: 'main', caller_id: 'key_a' }
      const watch = own.watch(of)
      await watch()
      const [none, main, compact] = [null, 'main', 'compact'].map((kind) => ({ ...callOf('key_a'), at, kind }))
      for (const call of [none, main, compact, { ...callOf('key_b'), at }]) own.record(call ?? assert.fail())
      const expected = [none?.call_id, main?.call_id].sort()
      const idsOf = (some: readonly CallRecord[]) => some.map(({ call_id }) => call_id).sort()
      const { items, total } = await own.history({ limit: 5, ...of })
      assert.deepEqual([total, idsOf(items)], [2, expected])
      assert.deepEqual(idsOf(await watch()), expected)
      for (const group_by of [undefined, 'model'] as const)
        assert.equal((await own.stats({ ...of, group_by })).totals.calls, 2)
      assert.deepEqual(idsOf((await own.history({ limit: 5, kind: 'compact' })).items), [compact?.call_id])
      const dear = { ...callOf('key_a'), at, upstream_cost_usd: 1.5 }
      own.record(dear)
      assert.deepEqual(idsOf((await own.history({ limit: 5, min_cost_usd: 1.5 })).items), [dear.call_id])
      assert.equal((await own.stats({ min_cost_usd: 1.500001, group_by: 'hour' })).totals.calls, 0)
      await apart.close()
    })

    it('lists the calls of a session, of one key or of all that have named theirs so', async () => {
      const apart = await open()
      const own = createCalls({ store: apart, onError: (error) => assert.fail(String(error)) })
      const session = { session_id: 's1', thread_id: 't1', parent_id: 'p1', turn_id: 'u1', kind: 'subagent' }
      const said = { ...session, client: 'codex', client_version: '0.171.0' }
      const mine = [1, 2, 3].map((i) => ({ ...callOf('key_a'), ...said, path: `/v1/${i}` }))
      const others = [{ ...callOf('key_b'), ...said }, { ...callOf('key_a'), session_id: 's2' }, callOf('key_a')]
      const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, ...READ }
      const effect = { usage, cache: { ...EFFECT, changed: 'tools' as const } }
      Object.assign(mine[0] ?? {}, effect)
      Object.assign(others[0] ?? {}, effect)
      for (const call of [...mine, ...others]) own.record(call)
      assert.deepEqual(await own.cacheOf({ session: 's1', caller_id: 'key_a' }), {
        ...{ calls: 3, prompt_tokens: 10, changed_tools: 1, changed_instructions: 0 },
        ...{ cached_tokens: 3, cache_write_tokens: 1, hit_rate: 0.3 },
        ...{ saved_usd: 0.000_005, missed_tokens: 7, missed_usd: 0.000_002 },
      })
      assert.deepEqual(
        await Promise.all(['s1', 'none'].map(async (session) => (await own.cacheOf({ session })).changed_tools)),
        [2, 0],
      )
      const listed = await own.history({ limit: 2, session: 's1', caller_id: 'key_a' })
      assert.deepEqual([listed.total, listed.items], [3, mine.toReversed().slice(0, 2)])
      const rest = await own.history({ limit: 2, session: 's1', caller_id: 'key_a', cursor: listed.next_cursor ?? '' })
      assert.deepEqual(rest.items, mine.slice(0, 1))
      assert.equal((await own.history({ limit: 5, session: 's1' })).total, 4)
      const filter = { session: 's1', path: '/v1/2', model: 'model-b', from: '2026-01-01T00:00:00Z' }
      const found = await own.history({ limit: 5, ...filter, status: mine[1]?.status })
      assert.deepEqual([found.total, found.items], [1, [mine[1]]])
      assert.equal((await own.history({ limit: 5, session: "s1' or '1" })).total, 0)
      await apart.close()
    })

    it('finds the calls of an alias, and those of a model that had its name', async () => {
      const ids = new Map([
        ['alias', 'model-a'],
        ['model-b', 'model-a'],
      ])
      const idOf = (model: string) => ids.get(model) ?? model
      const aliased = createCalls({ store, onError: (error) => assert.fail(String(error)), idOf })
      const newestFirst = CALLS.toReversed()
      for (const [model, expected] of [
        ['alias', newestFirst.filter((call) => call.model === 'model-a')],
        ['model-b', newestFirst],
      ] as const)
        for (const range of [{}, { from: '2026-03-01T00:30:00.000Z' }]) {
          const inside = expected.filter(({ at }) => at >= (range.from ?? ''))
          const { items, total } = await aliased.history({ model, limit: 30, offset: 10, ...range })
          assert.deepEqual([items, total], [inside.slice(10, 40), inside.length])
          const first = await aliased.history({ model, limit: 10, ...range })
          const next = await aliased.history({ model, limit: 10, cursor: first.next_cursor ?? assert.fail(), ...range })
          assert.deepEqual([...first.items, ...next.items], inside.slice(0, 20))
          assert.equal((await aliased.stats({ model, ...range })).totals.calls, inside.length)
        }
    })

    it('keeps calls whose models differ in what an engine cannot keep', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
      const call = CALLS[0] as CallRecord
      for (const [i, model] of ['!\0', '!\ufffd'].entries())
        calls.record({ ...call, call_id: `call_${i}`, model, requested_model: model, path: `/v1${model}` })
      await calls.flush()
      const { items, total } = await calls.history({ limit: 10, model: '!\ufffd' })
      assert.deepEqual([items.length, total], [2, 2])
      const { groups } = await calls.stats({ group_by: 'model' })
      assert.deepEqual(
        groups.map(({ key, calls }) => [key, calls]),
        [['!\ufffd', 2]],
      )
      await store.close()
    })

    it('refuses a cursor that it did not give', async () => {
      for (const cursor of ['', 'x', 'WzFd', Buffer.from('{"a":1}').toString('base64url')])
        await assert.rejects(calls.history({ limit: 1, cursor }), { code: 'invalid_cursor' })
    })

    it('sums any time range exactly, whole hours or not', async () => {
      const within = fc.integer({ min: -HOUR, max: 241 * HOUR })
      await fc.assert(
        fc.asyncProperty(fc.option(within), fc.option(within), async (a, b) => {
          const from = a === null ? undefined : new Date(START + a).toISOString()
          const to = b === null ? undefined : new Date(START + b).toISOString()
          const inside = CALLS.filter((call) => (!from || call.at >= from) && (!to || call.at < to))
          const { totals } = await calls.stats({ ...(from ? { from } : {}), ...(to ? { to } : {}) })
          assert.equal(totals.calls, inside.length)
          assert.equal(totals.errors, inside.filter((call) => call.status === 'error').length)
          assert.equal(
            totals.total_tokens,
            inside.reduce((sum, call) => sum + (call.usage?.total_tokens ?? 0), 0),
          )
          const [read, effects] = [
            inside.filter(({ usage }) => usage?.cached_tokens),
            inside.filter(({ cache }) => cache),
          ]
          const { hit_rate, ...sums } = totals.cache
          assert.deepEqual(sums, {
            cached_tokens: 3 * read.length,
            cache_write_tokens: read.length,
            saved_usd: toUsd(5 * effects.length),
            missed_tokens: 7 * effects.length,
            missed_usd: toUsd(2 * effects.length),
          })
          assert.equal(hit_rate, totals.prompt_tokens === 0 ? null : (3 * read.length) / totals.prompt_tokens)
          const page = await calls.history({ limit: 1, ...(from ? { from } : {}), ...(to ? { to } : {}) })
          assert.equal(page.total, inside.length)
        }),
        { numRuns: runsOn(store, 60), endOnFailure: true },
      )
    })

    it('takes bounds that UTC has before the year 0 and after the year 9999', async () => {
      const [early, late] = ['0000-01-01T00:00:00+05:00', '9999-12-31T23:59:59-05:00']
      for (const [range, inside] of [
        [{ from: early, to: late }, CALLS.length],
        [{ from: '9999-12-31T23:30:00Z' }, 0],
        [{ from: late }, 0],
        [{ to: early }, 0],
      ] as const) {
        const { items, total } = await calls.history({ limit: 1000, ...range })
        const { totals } = await calls.stats(range)
        assert.deepEqual([items.length, total, totals.calls], [inside, inside, inside], JSON.stringify(range))
        await calls.fallbacks(range)
      }
    })

    it('groups by each dimension; the groups sum to the total', async () => {
      for (const group_by of ['model', 'caller', 'day', 'path', 'status'] as const) {
        const { totals, groups } = await calls.stats({ group_by })
        assert.equal(
          groups.reduce((sum, group) => sum + group.calls, 0),
          CALLS.length,
        )
        assert.equal(totals.calls, CALLS.length)
      }
      const { groups } = await calls.stats({ group_by: 'day' })
      assert.deepEqual(groups.map((group) => [group.key, group.calls])[0], ['2026-03-01', 72])
    })

    it('groups by the hour for charts, those of one caller or model alone too', async () => {
      const range = { from: '2026-03-02T05:30:00.000Z', to: '2026-03-03T05:30:00.000Z' }
      for (const only of [{}, { caller_id: 'key_a' }, { model: 'model-b' }]) {
        const inside = CALLS.filter(
          ({ at, caller_id, model }) =>
            at >= range.from &&
            at < range.to &&
            (!('caller_id' in only) || caller_id === only.caller_id) &&
            (!('model' in only) || model === only.model),
        )
        const { groups } = await calls.stats({ ...range, ...only, group_by: 'hour' })
        const hours = new Map<string, CallRecord[]>()
        for (const call of inside) {
          const hour = `${call.at.slice(0, 13)}:00:00.000Z`
          hours.set(hour, [...(hours.get(hour) ?? []), call])
        }
        const expected = [...hours]
          .map(([hour, of]) => [hour, of.length])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
        assert.deepEqual(
          groups.map(({ key, calls: count }) => [key, count]),
          expected,
        )
      }
    })

    /** Folds what is before a day of the month, by two processes at once. */
    async function fold(store: Store, day: string): Promise<void> {
      const before = `2026-03-${day}T00:30:00.000Z`
      for (let more = true; more; ) {
        const moved = await Promise.all([foldCalls(store, before, 70), foldCalls(store, before, 70)])
        more = moved.some((rows) => rows === 70)
      }
    }

    it('sums up the same once counts are folded, those that came late too', async () => {
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => assert.fail(String(error)) })
      for (const [day, late] of [
        ['09', 0],
        ['06', 1],
      ] as const) {
        for (const call of CALLS.filter((_, i) => i % 2 === late)) trail.record(call)
        await trail.flush()
        await fold(separate, day)
      }
      const ranges = [
        {},
        { from: '2026-03-02T05:30:00.000Z', to: '2026-03-07T20:30:00.000Z' },
        { from: '2026-03-03T00:00:00.000Z', to: '2026-03-04T00:00:00.000Z' },
        { from: '2026-03-03T05:10:00.000Z', to: '2026-03-03T05:50:00.000Z' },
        { from: '2026-03-05T22:00:00.000Z', to: '2026-03-06T02:00:00.000Z' },
        { to: '2026-03-08T11:00:00.000Z' },
      ]
      const only = [{}, { caller_id: 'key_a' }, { model: 'model-b' }, { caller_id: 'key_b', model: 'model-a' }]
      for (const range of ranges)
        for (const some of only) {
          for (const group_by of [undefined, 'model', 'caller', 'day', 'hour', 'path', 'status'] as const) {
            const query = { ...range, ...some, group_by }
            assert.deepEqual(await trail.stats(query), await calls.stats(query), JSON.stringify(query))
          }
          for (const status of [undefined, 'error'] as const) {
            const query = { ...range, ...some, status, limit: 1 }
            assert.equal((await trail.history(query)).total, (await calls.history(query)).total, JSON.stringify(query))
          }
        }
      await separate.close()
    })

    it('keeps a few sums an hour and a day, however much latencies vary', async () => {
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => assert.fail(String(error)) })
      for (let i = 0; i < 960; i++) {
        const at = new Date(START + (i % 48) * (HOUR / 2)).toISOString()
        trail.record({
          ...(CALLS[1] as CallRecord),
          call_id: newId('call'),
          at,
          latency_ms: Math.round(10 * 1.006 ** i),
        })
      }
      await trail.flush()
      await fold(separate, '02')
      assert.deepEqual(await separate.db.selectFrom('call_rollups').selectAll().execute(), [])
      const sums = await separate.db.selectFrom('call_sums').select('level').execute()
      assert.equal(sums.length, 24 + 24 + 1 + 1)
      await separate.close()
    })

    it('finds one call, and none that it does not hold', async () => {
      assert.deepEqual(await calls.find(CALLS[7]?.call_id ?? ''), CALLS[7])
      assert.equal(await calls.find('call_none'), null)
    })

    it('counts how often the responses endpoint was stood in for', async () => {
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => assert.fail(String(error)) })
      const [template] = CALLS
      assert.ok(template, 'there is a call')
      const at = (minute: number) => new Date(START + minute * 60_000).toISOString()
      for (let i = 0; i < 4; i++) {
        const caller_id = i % 2 ? 'key_b' : 'key_a'
        const asked = { ...template, call_id: newId('call'), at: at(i * 100), path: '/v1/responses', caller_id }
        trail.record(asked)
        if (i === 0) continue
        trail.record({
          ...template,
          call_id: newId('call'),
          at: at(i * 100 + 1),
          caller_id,
          fallback_from: asked.call_id,
        })
      }
      assert.deepEqual(await trail.fallbacks({}), { requests: 4, fallen_back: 3, rate: 0.75 })
      assert.deepEqual(await trail.fallbacks({ caller_id: 'key_a' }), { requests: 2, fallen_back: 1, rate: 0.5 })
      assert.deepEqual(await trail.fallbacks({ from: at(50), to: at(150) }), { requests: 1, fallen_back: 1, rate: 1 })
      assert.deepEqual(await trail.fallbacks({ from: at(1000) }), { requests: 0, fallen_back: 0, rate: 0 })
      for (const filter of ['model', 'path', 'session', 'address', 'kind', 'upstream'])
        assert.equal(await trail.fallbacks({ [filter]: template.path }), null, filter)
      await separate.close()
    })

    it('counts fallbacks among the requests to the responses endpoint alone', async () => {
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => assert.fail(String(error)) })
      const [template] = CALLS
      assert.ok(template, 'there is a call')
      const record = (path: string, fallback_from: string | null) => {
        const call_id = newId('call')
        trail.record({ ...template, call_id, path, fallback_from, status: fallback_from === null ? 'error' : 'ok' })
        return call_id
      }
      for (let i = 0; i < 4; i++) record('/v1/chat/completions', record('/v1/chat/completions', null))
      const other = record('/v1/responses', null)
      record('/v1/responses', other)
      const first = record('/v1/responses', null)
      record('/v1/responses', first)
      record('/v1/chat/completions', first)
      record('/v1/chat/completions', first)
      assert.deepEqual(await trail.fallbacks({}), { requests: 2, fallen_back: 1, rate: 0.5 })
      await separate.close()
    })

    it('knows latency quantiles within 2.5 %', async () => {
      const sorted = CALLS.map((call) => call.latency_ms).sort((a, b) => a - b)
      const { totals } = await calls.stats({})
      const pairs = [
        [totals.latency_ms.p50, 0.5],
        [totals.latency_ms.p95, 0.95],
        [totals.latency_ms.p99, 0.99],
      ] as const
      for (const [found, q] of pairs) {
        const exact = sorted[Math.ceil(q * sorted.length) - 1] ?? 0
        assert.ok(Math.abs((found ?? 0) - exact) <= Math.max(1, exact * 0.026), `p${q * 100}: ${found}, not ${exact}`)
      }
    })

    it('keeps records while the store cannot be written, and writes them when it can', async () => {
      const errors: unknown[] = []
      const separate = await open()
      const failing = { ...separate, write: () => Promise.reject(new GazewayError('store_full', 'the disk is full')) }
      let current: Store = failing
      const trail = createCalls({
        store: { ...separate, write: (work) => current.write(work) },
        onError: (error) => errors.push(error),
      })
      trail.record(CALLS[0] as CallRecord)
      await assert.rejects(trail.flush(), /disk is full/)
      assert.equal((await trail.history({ limit: 1 })).total, 0, 'reading goes on')
      assert.equal(errors.length, 1)
      current = separate
      assert.equal((await trail.history({ limit: 1 })).total, 1)
      await separate.close()
    })

    it('has a record for each refusal up to a rate, and counts the others, by caller', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
      let at = new Date('2026-11-21T08:15:00.000Z')
      const note = createRefusals({ calls, upstream: () => 'double', now: () => at })
      const error = new GazewayError('invalid_api_key', 'Send a key.')
      const refuse = (callerId: string | null, times: number) => {
        const refusal = {
          surface: 'http',
          callerId,
          address: null,
          path: '/v1/responses',
          requestedModel: 'any',
          error,
        } as const
        for (let i = 0; i < times; i++) void note(refusal)
      }
      refuse(null, 5_000)
      refuse('key_a', 70)
      at = new Date('2026-11-21T08:16:00.000Z')
      refuse(null, 61)
      for (const call of CALLS.slice(0, 20)) calls.record({ ...call, at: at.toISOString() })

      const check = async () => {
        const all = { limit: 1000, status: 'refused' as const }
        const { items, total } = await calls.history(all)
        assert.deepEqual([items.length, total], [180, 180])
        assert.equal((await calls.history({ ...all, from: '2026-11-21T08:00:00.000Z' })).total, 180)
        assert.equal((await calls.history({ ...all, caller_id: 'key_a' })).total, 60)
        const { totals, groups } = await calls.stats({ group_by: 'caller' })
        assert.deepEqual([totals.calls, totals.refused], [5_151, 5_131])
        assert.equal(totals.error_rate, totals.errors / 20)
        assert.ok((totals.latency_ms.p50 ?? 0) > 1, 'refusals take no time, and are not in it')
        assert.deepEqual(
          groups.map(({ key, refused }) => [key, refused]),
          [
            ['', 5_061],
            ['key_a', 70],
            ['key_b', 0],
          ],
        )
        const byStatus = (await calls.stats({ group_by: 'status' })).groups
        assert.deepEqual(
          byStatus.filter(({ key }) => key.startsWith('refused')).map(({ key, calls: count }) => [key, count]),
          [['refused', 5_131]],
        )
        assert.equal((await calls.fallbacks({}))?.requests, 0)
      }
      await check()
      await foldCalls(store, '2026-11-21T10:00:00.000Z', 1000)
      await check()
      const [record] = (await calls.history({ limit: 1, status: 'refused', caller_id: 'key_a' })).items
      const { call_id, ...refused } = record ?? assert.fail()
      assert.deepEqual(refused, {
        at: '2026-11-21T08:15:00.000Z',
        surface: 'http',
        address: null,
        caller_id: 'key_a',
        path: '/v1/responses',
        requested_model: 'any',
        model: null,
        upstream: 'double',
        stream: false,
        status: 'refused',
        http_status: 401,
        fallback_from: null,
        price_from: null,
        provider_key: null,
        ...NO_SESSION,
        skipped: [],
        latency_ms: 0,
        first_token_ms: null,
        usage: null,
        upstream_cost_usd: 0,
        error: 'invalid_api_key: Send a key.',
      })
      await store.close()
    })

    it('gives up a record that no store takes, and says which, rather than those beside it', async () => {
      const errors: unknown[] = []
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => errors.push(error) })
      const strange = { ...CALLS[3], call_id: newId('call'), latency_ms: Number.NaN }
      for (const record of [...CALLS.slice(0, 5), strange, ...CALLS.slice(5, 9)]) trail.record(record as CallRecord)
      await trail.flush()
      assert.deepEqual((await trail.history({ limit: 50 })).items, CALLS.slice(0, 9).toReversed())
      assert.equal((await trail.stats({})).totals.calls, 9)
      assert.match(errors.map(String).join(), new RegExp(`^Error: Dropped the record of ${strange.call_id}`))
      await separate.close()
    })

    it('takes models that differ in half characters alone, which no engine keeps apart', async () => {
      const separate = await open()
      const trail = createCalls({ store: separate, onError: (error) => assert.fail(String(error)) })
      for (const model of ['\ud810', '\ud811', '\0'])
        trail.record({ ...(CALLS[0] as CallRecord), call_id: newId('call'), requested_model: model, model })
      await trail.flush()
      const { items } = await trail.history({ limit: 5 })
      assert.deepEqual(
        items.map(({ model }) => model),
        Array(3).fill('\ufffd'),
      )
      await separate.close()
    })

    it('writes a batch once although its outcome was not heard of', async () => {
      const separate = await open()
      let lost = 0
      const trail = createCalls({
        store: {
          ...separate,
          async write(work) {
            const result = await separate.write(work)
            if (lost++ < 2) throw new GazewayError('store_unavailable', 'the connection was lost')
            return result
          },
        },
        onError: () => {},
      })
      trail.record(CALLS[0] as CallRecord)
      await assert.rejects(trail.flush(), /connection was lost/)
      trail.record(CALLS[1] as CallRecord)
      await assert.rejects(trail.flush(), /connection was lost/)
      trail.record(CALLS[2] as CallRecord)
      await trail.flush()
      assert.equal((await trail.history({ limit: 1 })).total, 3)
      assert.equal((await trail.stats({})).totals.calls, 3)
      await separate.close()
    })
  })
}
