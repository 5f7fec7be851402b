import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listCalls } from '../../src/calls/call-list.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const CALL: CallRecord = {
  call_id: 'call_1',
  at: '2026-03-01T10:20:00.000Z',
  surface: 'http',
  address: null,
  caller_id: null,
  path: '/v1/responses',
  requested_model: 'm',
  model: 'm',
  upstream: 'double',
  stream: false,
  status: 'ok',
  http_status: 200,
  fallback_from: null,
  price_from: null,
  provider_key: null,
  ...NO_SESSION,
  skipped: [],
  latency_ms: 100,
  first_token_ms: null,
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  upstream_cost_usd: 0.001,
  error: null,
}

interface Stats {
  totals: { calls: number; upstream_cost_usd: number }
  groups: { key: string; calls: number }[]
  fallbacks: { requests: number; fallen_back: number; rate: number }
  and_groups?: unknown[]
}

describe('the calls over HTTP', () => {
  let platform: RunningPlatform
  let own: CallRecord

  before(async () => {
    platform = await startPlatform('sandbox', { withHttp: false })
    own = { ...CALL, call_id: 'call_2', at: '2026-03-01T11:20:00.000Z', caller_id: platform.keyId }
    platform.gateway.calls.record(CALL)
    platform.gateway.calls.record(own)
    platform.gateway.calls.record({
      ...own,
      call_id: 'call_3',
      at: '2026-03-01T11:21:00.000Z',
      fallback_from: 'call_2',
      path: '/v1/chat/completions',
    })
  })
  after(() => platform.close())

  const get = async <T>(path: string, key = platform.admin): Promise<T> => {
    const reply = await ask(platform, 'GET', path, { key })
    assert.equal(reply.status, 200, await reply.clone().text())
    return (await reply.json()) as T
  }
  const ids = ({ items }: { items: CallRecord[] }) => items.map(({ call_id }) => call_id)

  it('lists all for an admin, newest first, in pages, and by filter', async () => {
    const page = await get<{ items: CallRecord[]; total: number; next_cursor: string }>('/api/calls?limit=2')
    assert.deepEqual(ids(page), ['call_3', 'call_2'])
    assert.equal(page.total, 3)
    assert.deepEqual(ids(await get(`/api/calls?limit=2&cursor=${page.next_cursor}`)), ['call_1'])
    assert.deepEqual(ids(await get('/api/calls?path=/v1/responses')), ['call_2', 'call_1'])
  })

  it('shows each key its own alone', async () => {
    assert.deepEqual(ids(await get('/api/calls', platform.key)), ['call_3', 'call_2'])
    assert.deepEqual(await get('/api/calls/call_2', platform.key), own)
    assert.deepEqual(await get('/api/calls/call_1'), CALL)
    const others = await ask(platform, 'GET', '/api/calls/call_1')
    assert.equal(others.status, 404)
    for (const path of ['/api/calls?', '/api/calls/stats?', '/api/calls/cache?session=s1&']) {
      const refused = await ask(platform, 'GET', `${path}caller_id=key_other`)
      assert.equal(refused.status, 403)
      assert.equal((await errorOf(refused)).code, 'insufficient_scope')
    }
    assert.equal((await get<Stats>('/api/calls/stats', platform.key)).totals.calls, 2)
  })

  it('adds them up by the hour, with how often another endpoint had to answer', async () => {
    const { totals, groups, fallbacks } = await get<Stats>('/api/calls/stats?from=2026-03-01T00:00:00Z&group_by=hour')
    assert.deepEqual([totals.calls, totals.upstream_cost_usd], [3, 0.003])
    assert.deepEqual(
      groups.map(({ key, calls }) => [key, calls]),
      [
        ['2026-03-01T10:00:00.000Z', 1],
        ['2026-03-01T11:00:00.000Z', 2],
      ],
    )
    assert.deepEqual(fallbacks, { requests: 2, fallen_back: 1, rate: 0.5 })
  })

  it('lists the calls of a session, to each key its own, although two keys name it the same', async () => {
    const session = { session_id: 'night', client: 'codex' }
    platform.gateway.calls.record({ ...own, call_id: 'call_4', ...session, caller_id: 'key_other' })
    platform.gateway.calls.record({ ...own, call_id: 'call_5', ...session })
    assert.deepEqual(ids(await get('/api/calls?session=night', platform.key)), ['call_5'])
    const page = await get<{ items: CallRecord[]; total: number }>('/api/calls?session=night&path=/v1/responses')
    assert.deepEqual([ids(page), page.total, page.items[0]?.client], [['call_5', 'call_4'], 2, 'codex'])
    const callsIn = async (key: string) => (await get<{ calls: number }>('/api/calls/cache?session=night', key)).calls
    assert.deepEqual([await callsIn(platform.key), await callsIn(platform.admin)], [1, 2])
    assert.equal((await ask(platform, 'GET', `/api/calls?session=${'x'.repeat(129)}`)).status, 422)
  })

  it('lists and adds up the calls of the keys of a group, however many it has', async () => {
    const { keys, groups, calls } = platform.gateway
    const { id: group } = await groups.create({ name: 'painters', budgets: [] })
    const { id: bare } = await groups.create({ name: 'nobody', budgets: [] })
    const make = async (name: string, of: string | null) =>
      keys.create({ name, scopes: ['inference', 'platform'], ...(of !== null && { group: of }) })
    const [ada, bob, eve] = [await make('ada', group), await make('bob', group), await make('eve', null)]
    const record = (
      call_id: string,
      minute: number,
      { id: caller_id }: { id: string },
      more: Partial<CallRecord> = {},
    ) =>
      calls.record({
        ...CALL,
        call_id,
        caller_id,
        at: `2026-04-01T10:1${minute}:00.000Z`,
        address: '10.0.0.1',
        ...more,
      })
    record('call_a1', 1, ada.record)
    record('call_e1', 2, eve.record)
    record('call_b1', 3, bob.record, { status: 'error', path: '/v1/chat/completions', fallback_from: 'call_a1' })
    record('call_a2', 4, ada.record, { address: '10.0.0.2' })

    for (const more of [0, 200]) {
      for (let i = 0; i < more; i++) await make(`painter ${i}`, group)
      const page = await get<{ items: CallRecord[]; total: number; next_cursor: string }>(
        `/api/calls?group=${group}&limit=2`,
      )
      assert.deepEqual([ids(page), page.total], [['call_a2', 'call_b1'], 3])
      assert.deepEqual(ids(await get(`/api/calls?group=${group}&limit=2&cursor=${page.next_cursor}`)), ['call_a1'])
      assert.deepEqual(ids(await get(`/api/calls?group=${group}&limit=1&offset=1`)), ['call_b1'])
      for (const [filter, found] of [
        ['status=error', ['call_b1']],
        ['model=m', ['call_a2', 'call_b1', 'call_a1']],
        ['address=10.0.0.2', ['call_a2']],
        [`caller_id=${bob.record.id}`, ['call_b1']],
        [`caller_id=${eve.record.id}`, []],
        ['from=2026-04-01T10:12:00Z', ['call_a2', 'call_b1']],
      ] as const) {
        const filtered = await get<{ items: CallRecord[]; total: number }>(`/api/calls?group=${group}&${filter}`)
        assert.deepEqual([ids(filtered), filtered.total], [found, found.length], filter)
      }
      const stats = await get<Stats>(`/api/calls/stats?group=${group}&group_by=address`)
      assert.deepEqual(
        stats.groups.map(({ key, calls: number }) => [key, number]),
        [
          ['10.0.0.1', 2],
          ['10.0.0.2', 1],
        ],
      )
      for (const by of ['day', 'hour', 'model'])
        assert.equal((await get<Stats>(`/api/calls/stats?group=${group}&group_by=${by}`)).totals.calls, 3, by)
      assert.deepEqual(stats.fallbacks, { requests: 2, fallen_back: 1, rate: 0.5 })
    }
    assert.equal((await get<{ total: number }>(`/api/calls?group=${bare}`)).total, 0)
    assert.equal((await get<Stats>(`/api/calls/stats?group=${bare}`)).totals.calls, 0)
    assert.deepEqual(ids(await get(`/api/calls?group=${group}`, eve.key)), [])
    assert.deepEqual(ids(await get(`/api/calls?group=${group}`, bob.key)), ['call_b1'])
  })

  it('lists and adds up by what no sum has: a session, an address, a kind, and an upstream for admins', async () => {
    const { keys, calls } = platform.gateway
    const { key, record } = await keys.create({ name: 'kinds', scopes: ['inference'] })
    const named = { ...CALL, caller_id: record.id, session_id: 'kinds', client: 'codex', upstream: 'elsewhere' }
    for (const [call_id, more] of Object.entries({
      call_k1: { kind: 'compact', upstream_cost_usd: 0.25 },
      call_k2: { kind: 'subagent', address: '10.9.9.9', status: 'error' as const },
      call_k3: { at: '2026-05-02T11:00:00.000Z' },
    }))
      calls.record({ ...named, call_id, at: '2026-05-02T10:10:00.000Z', ...more })
    for (const [filter, found] of [
      ['session=kinds', ['call_k3', 'call_k2', 'call_k1']],
      ['session=kinds&kind=compact', ['call_k1']],
      ['kind=subagent&status=error', ['call_k2']],
      ['address=10.9.9.9', ['call_k2']],
      ['session=kinds&min_cost_usd=0.25', ['call_k1']],
      ['upstream=elsewhere', ['call_k3', 'call_k2', 'call_k1']],
    ] as const) {
      const page = await get<{ items: CallRecord[]; total: number }>(`/api/calls?${filter}`)
      assert.deepEqual([ids(page), page.total], [found, found.length], filter)
      if (filter.includes('status')) continue
      const stats = await get<Stats>(`/api/calls/stats?${filter}&group_by=hour`)
      assert.equal(stats.totals.calls, found.length, filter)
      assert.deepEqual(
        stats.groups.map(({ key: hour }) => hour.slice(11, 13)),
        found.length === 3 ? ['10', '11'] : ['10'],
        filter,
      )
    }
    const byPath = await get<Stats>(`/api/calls/stats?session=kinds&path=${named.path}&group_by=model`)
    assert.equal(byPath.totals.calls, 3)
    const twice = '/api/calls/stats?session=kinds&group_by=hour&and_by=address'
    const [both, second] = [
      await get<Stats>(twice),
      await get<Stats>('/api/calls/stats?session=kinds&group_by=address'),
    ]
    assert.deepEqual(both.groups.map(({ calls: sum }) => sum).toSorted(), [1, 2])
    assert.equal(second.groups.length, 2)
    assert.deepEqual(both.and_groups, second.groups)
    assert.ok(!('and_groups' in second))
    assert.deepEqual(ids(await get('/api/calls?kind=compact', key)), ['call_k1'])
    for (const path of ['/api/calls', '/api/calls/stats', '/api/calls/live'])
      assert.equal((await ask(platform, 'GET', `${path}?upstream=elsewhere`, { key })).status, 403, path)
  })

  it('reads the content of no more calls of a group than a page shows', async () => {
    const { keys, groups, calls, store } = platform.gateway
    const { id: group } = await groups.create({ name: 'writers', budgets: [] })
    const expected: string[] = []
    for (let i = 0; i < 9; i++) {
      const { record } = await keys.create({ name: `writer ${i}`, scopes: ['inference'], group })
      for (let turn = 0; turn < 4; turn++) {
        const call = { call_id: `call_w${turn}${i}`, at: `2026-04-02T10:${turn}${i}:00.000Z`, caller_id: record.id }
        calls.record({ ...CALL, ...call, content: { request: 'r'.repeat(1000), answer: 'a' } })
        expected.unshift(call.call_id)
      }
    }
    expected.sort().reverse()
    await calls.flush()
    let read = 0
    const counted = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        read += result.rows.filter(({ content }) => typeof content === 'string').length
        return result
      },
    })
    for (const offset of [0, 7]) {
      read = 0
      const page = await listCalls({ ...store, db: counted }, { group, limit: 5, offset }, undefined)
      assert.deepEqual(ids(page), expected.slice(offset, offset + 5))
      assert.ok(page.items.every(({ content }) => content !== undefined))
      assert.equal(page.total, 36)
      // One more tells that others follow.
      assert.equal(read, 6)
    }
  })

  it('describes every key of the configuration', async () => {
    const { items, total } = await get<{ items: Record<string, unknown>[]; total: number }>(
      '/api/config/keys',
      platform.key,
    )
    assert.equal(total, items.length)
    const { schema, ...port } = items.find(({ key }) => key === 'http.platform_port') ?? {}
    assert.deepEqual(port, {
      key: 'http.platform_port',
      description: 'Port of the platform, socket and console; 0 selects a free port.',
      accepts: 'a whole number from 0 to 65535',
      default: 8812,
      has_entries: false,
      secret: false,
      restart: true,
      environment_only: false,
    })
    assert.equal((schema as { type: string }).type, 'integer')
  })
})
