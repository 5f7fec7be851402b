import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type { Keep } from '../../src/idempotency/idempotency.ts'
import type { Receipt } from '../../src/wallet/receipts/receipt.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Say hello.', max_tokens: 20 }

describe('a metered call whose upstream', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    upstream = await double.startUpstream()
    running = await startPlatform(upstream.url, {
      document: { upstream: { timeout_ms: 1500, max_retries: 0 }, http: { rate_limit: { requests_per_minute: 1000 } } },
    })
  })
  beforeEach(() => {
    upstream.received.length = 0
  })
  afterEach(() => {
    for (const secret of [running.key, 'upstream-secret-key']) assert.ok(!running.logged.join('').includes(secret))
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  const call = (init: { headers?: Record<string, string> } = {}) =>
    ask(running, 'POST', '/api/wallet/metered/call', { key: null, body: { ...CALL, caller_id: running.key }, ...init })
  /** The request of {@link call}, under an idempotency key. */
  const keyed = (key: string) => ({
    scope: running.keyId,
    key,
    route: 'POST /api/wallet/metered/call',
    body: JSON.stringify({ ...CALL, caller_id: running.key }),
  })
  const balances = () => running.gateway.wallet.balances(running.keyId)

  for (const [what, behaviour, status] of [
    ['fails', double.fails(500), 502],
    ['refuses', double.fails(400), 502],
    ['drops the connection', double.drops, 502],
    ['answers with something else', double.malformed, 502],
    ['hangs', double.hangs, 504],
  ] as const)
    it(`${what} costs nothing`, async () => {
      upstream.on('/chat/completions', behaviour)
      const before = await balances()
      const reply = await call()
      assert.deepEqual([reply.status, (await errorOf(reply)).type], [status, 'upstream_error'])
      assert.deepEqual(await balances(), before)
    })

  it('reports no usage is counted and marked', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.', null)))
    const { usage } = (await (await call()).json()) as { usage: { estimated?: boolean } }
    assert.equal(usage.estimated, true)
  })

  it('failed may be called again under the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'again' }
    upstream.on('/chat/completions', double.fails(500), double.json(200, double.completion('Hello.')))
    assert.equal((await call({ headers })).status, 502)
    const second = await call({ headers })
    assert.deepEqual([second.status, second.headers.get('idempotent-replayed')], [200, null])
  })

  it('is asked for a process that died is made under the same idempotency key a minute later', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const headers = { 'idempotency-key': 'died' }
    // What a dead process leaves: an attempt without a reply.
    void running.gateway.idempotency.run(keyed('died'), () => new Promise(() => {}))
    await until(async () => (await call({ headers })).status === 409)
    const early = await call({ headers })
    assert.deepEqual([early.headers.get('retry-after'), (await errorOf(early)).code], ['1', 'idempotency_in_flight'])
    const attempts = running.gateway.store.db.updateTable('idempotency_keys').where('key', '=', 'died')
    await attempts.set({ in_flight_until: new Date().toISOString() }).execute()
    const again = await call({ headers })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, null])
  })

  it('was charged by a process that died is said to be replayed under the same idempotency key', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const context = { surface: 'platform' as const, callerId: running.keyId }
    const receipt = await new Promise<Receipt>((resolve) => {
      void running.gateway.idempotency.run(keyed('charged'), async (keep) => {
        const kept: Keep<Receipt> = (trx, made) => keep(trx, { status: 200, body: JSON.stringify(made) })
        resolve(await running.gateway.metering.call(CALL, { callerId: running.keyId, context, keep: kept }))
        // The process dies after the charge: nothing follows it.
        return new Promise(() => {})
      })
    })
    const before = await balances()
    for (const _ of ['once', 'again']) {
      const reply = await call({ headers: { 'idempotency-key': 'charged' } })
      assert.deepEqual([reply.status, reply.headers.get('idempotent-replayed')], [200, 'true'])
      assert.deepEqual(await reply.json(), receipt)
    }
    assert.deepEqual(await balances(), before)
  })

  it('works is counted against the rate limit of the key that it names', async () => {
    const limited = await startPlatform(upstream.url, {
      document: { http: { rate_limit: { requests_per_minute: 2 } } },
    })
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const body = { ...CALL, caller_id: limited.key }
    const statuses: number[] = []
    for (const _ of [1, 2, 3])
      statuses.push((await ask(limited, 'POST', '/api/wallet/metered/call', { key: null, body })).status)
    assert.deepEqual(statuses, [200, 200, 429])
    await limited.close()
  })
})
