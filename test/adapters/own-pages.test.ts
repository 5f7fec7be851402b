import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ExplainedCall } from '../../adapters/platform/routes/calls-routes.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = '/chat/completions'
const MESSAGES = [{ role: 'user', content: 'Say hello.' }]
const MONTH = new Date().toISOString().slice(0, 7)

describe('what a key sees of itself', () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let platform: RunningPlatform
  let mine: { key: string; id: string }
  let other: { key: string; id: string }

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    one.on(CHAT, double.json(503, { error: { message: 'overloaded' } }))
    two.on(CHAT, double.json(200, double.completion('Hello.')))
    const upstreams = { two: { provider: two.url, api_keys: ['key-of-two-number-1'] } }
    const routes = [{ model: 'smart', to: ['default', 'two/their-model'] }]
    platform = await startPlatform(one.url, { document: { upstreams, routes } })
    const { keys, groups } = platform.gateway
    const { id: group } = await groups.create({ name: 'staff', budgets: [{ usd: 50, per: 'day' }] })
    const terms = { scopes: ['inference' as const], billing: 'cost' as const, limits: { credit_limit_usd: 5 }, group }
    const [a, b] = [await keys.create({ name: 'ada', ...terms }), await keys.create({ name: 'bob', ...terms })]
    mine = { key: a.key, id: a.record.id }
    other = { key: b.key, id: b.record.id }
    for (const { key } of [mine, other]) {
      const reply = await fetch(`${platform.gatewayUrl}/v1${CHAT}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gazeway-session': 'work' },
        body: JSON.stringify({ model: 'smart', messages: MESSAGES }),
      })
      assert.equal(reply.status, 200, await reply.text())
    }
  })
  after(async () => {
    await platform.close()
    await one.close()
    await two.close()
  })

  const get = async (path: string, key = mine.key) => {
    const reply = await ask(platform, 'GET', path, { key })
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }
  const callsOf = async (id: string) =>
    (await platform.gateway.calls.history({ limit: 10, caller_id: id })).items.toReversed() as CallRecord[]

  it('is its record, calls, usage, ledger and statement, for a key with the scope inference', async () => {
    const { body: record } = await get(`/api/keys/${mine.id}`)
    assert.deepEqual([record.id, record.name, record.scopes], [mine.id, 'ada', ['inference']])
    const { body: calls } = await get('/api/calls')
    assert.deepEqual(
      (calls.items as CallRecord[]).map(({ caller_id }) => caller_id),
      [mine.id, mine.id],
    )
    const totals = (await get('/api/calls/stats?group_by=address')).body.totals as { calls: number }
    assert.equal(totals.calls, 2)
    const { body: usage } = await get('/api/wallet/metered/usage')
    assert.deepEqual(
      (usage.items as { caller_id: string }[]).map(({ caller_id }) => caller_id),
      [mine.id],
    )
    for (const path of [
      '/api/wallet/ledger',
      `/api/wallet/statements?period=${MONTH}`,
      '/api/calls/cache?session=work',
    ])
      assert.equal((await get(path)).status, 200, path)
    const verified = await ask(platform, 'POST', '/api/verify-session', { key: mine.key, body: { key: mine.key } })
    assert.equal(((await verified.json()) as { subject: string }).subject, mine.id)
  })

  it("is nothing of another's: ids are unknown, filters are refused", async () => {
    const [theirs] = await callsOf(other.id)
    for (const path of [
      `/api/keys/${other.id}`,
      `/api/calls/${theirs?.call_id}`,
      `/api/calls/${theirs?.call_id}/explained`,
    ])
      assert.equal((await get(path)).status, 404, path)
    for (const path of [
      `/api/calls?caller_id=${other.id}`,
      `/api/calls/stats?caller_id=${other.id}`,
      `/api/calls/cache?session=work&caller_id=${other.id}`,
      `/api/wallet/metered/usage?caller_id=${other.id}`,
      `/api/wallet/ledger?caller_id=${other.id}`,
      `/api/wallet/statements?period=${MONTH}&key=${other.id}`,
      `/api/coding-sessions?key=${other.id}`,
    ])
      assert.equal((await get(path)).status, 403, path)
    const asked = await ask(platform, 'POST', '/api/verify-session', { key: mine.key, body: { key: other.key } })
    assert.equal(asked.status, 403)
  })

  it('is each call of its wallet, too, and no call of nobody', async () => {
    const wallet = `0x${'a'.repeat(40)}`
    const { keys, calls } = platform.gateway
    const { key } = await keys.create({ name: 'bound', scopes: ['platform'], wallet })
    const [call] = await callsOf(mine.id)
    assert.ok(call)
    const skipped = [{ upstream: call.upstream, reason: 'circuit_open' as const }]
    calls.record({ ...call, call_id: 'call_of_wallet', caller_id: wallet, skipped })
    calls.record({ ...call, call_id: 'call_of_nobody', caller_id: null })
    const [listed] = (await get(`/api/calls?caller_id=${wallet}`, key)).body.items as CallRecord[]
    const { body } = await get(`/api/calls/${listed?.call_id}/explained`, key)
    const explained = body as unknown as ExplainedCall
    assert.equal(explained.call.call_id, 'call_of_wallet')
    assert.equal(explained.call.skipped[0]?.upstream, explained.call.upstream)
    for (const by of [key, mine.key]) assert.equal((await get('/api/calls/call_of_nobody', by)).status, 404)
  })

  it('leaves the rest of the platform closed to the scope inference', async () => {
    for (const [method, path] of [
      ['GET', '/api/keys'],
      ['GET', '/api/keys/burn'],
      ['PATCH', `/api/keys/${mine.id}`],
      ['DELETE', `/api/keys/${mine.id}`],
      ['POST', `/api/keys/${mine.id}/rotate`],
      ['GET', '/api/groups'],
      ['GET', '/api/tasks'],
      ['GET', '/api/wallet'],
      ['GET', '/api/config'],
      ['GET', '/api/memory'],
      ['POST', '/api/wallet/metered/deposit'],
      ['POST', '/api/coding-sessions/work/stop'],
    ] as const) {
      const reply = await ask(platform, method, path, { key: mine.key, ...(method !== 'GET' && { body: {} }) })
      assert.equal(reply.status, 403, `${method} ${path}`)
    }
  })

  it('explains each attempt of a call by the others, its key, its receipt and the transfer', async () => {
    const [failed, made] = await callsOf(mine.id)
    for (const call of [failed, made]) {
      const { body } = await get(`/api/calls/${call?.call_id}/explained`)
      const explained = body as unknown as ExplainedCall
      assert.equal(explained.call.call_id, call?.call_id)
      assert.deepEqual(
        explained.attempts.map(({ call_id, http_status }) => [call_id, http_status]),
        [
          [failed?.call_id, 503],
          [made?.call_id, 200],
        ],
      )
      assert.deepEqual([explained.key?.name, explained.group, explained.route], ['ada', null, null])
      const [receipt] = explained.receipts
      assert.deepEqual([receipt?.upstream_call_id, receipt?.caller_id], [made?.call_id, mine.id])
      assert.deepEqual(
        explained.transfers.map(({ key }) => key),
        [receipt?.transfer],
      )
      assert.equal(explained.transfers[0]?.amount_usd === 0, false)
    }
    const { body } = await get(`/api/calls/${made?.call_id}/explained`, platform.admin)
    const { group, route } = body as unknown as ExplainedCall
    assert.equal(group?.name, 'staff')
    assert.deepEqual(
      route?.candidates.map(({ upstream, model }) => [upstream, model]),
      [
        ['default', 'smart'],
        ['two', 'their-model'],
      ],
    )
  })

  it('names the call before in the session, of the same key', async () => {
    const [first] = await callsOf(mine.id)
    const reply = await fetch(`${platform.gatewayUrl}/v1${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${mine.key}`, 'content-type': 'application/json', 'x-gazeway-session': 'work' },
      body: JSON.stringify({ model: 'smart', messages: MESSAGES }),
    })
    await reply.text()
    const all = await callsOf(mine.id)
    const { body } = await get(`/api/calls/${all.at(-1)?.call_id}/explained`)
    assert.equal((body as unknown as ExplainedCall).before, all.at(1)?.call_id)
    assert.equal((await get(`/api/calls/${first?.call_id}/explained`)).body.before, null)
  })

  it('groups and lists calls by the address of their client', async () => {
    const { body } = await get('/api/calls/stats?group_by=address', platform.admin)
    const [group] = body.groups as unknown as { key: string; calls: number }[]
    const listed = await get(`/api/calls?address=${encodeURIComponent(group?.key ?? '')}&limit=1`, platform.admin)
    assert.equal(listed.body.total, group?.calls)
  })
})
