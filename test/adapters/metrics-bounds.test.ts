import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serveHttp } from '../../adapters/http/http.ts'
import { METRICS } from '../../adapters/metrics/descriptions.ts'
import { createReadiness } from '../../adapters/web/readiness.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'
import { scraped, scrapedAs } from './scrape.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = [{ role: 'user', content: 'Hello.' }]
const OF_KEYS = Object.entries(METRICS).flatMap(([name, metric]) => ('namesKeys' in metric ? [name] : []))

describe('the metrics of both ports', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    upstream.on('/models', double.json(200, { data: [{ id: 'any' }] }))
    running = await startPlatform(upstream.url, { document: { http: { allowed_hosts: ['gate.example'] } } })
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  it('have a bounded number of series when a scanner asks for 10,000 models', async () => {
    const { key } = await running.gateway.keys.create({ name: 'scanner', scopes: ['inference'] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const post = async (model: string) => {
      const body = JSON.stringify({ model, messages: MESSAGES })
      const reply = await fetch(running.gatewayUrl + CHAT, { method: 'POST', headers, body })
      await reply.text()
      return reply.status
    }
    assert.equal(await post('scanned-0'), 200)
    const record = await until(async () => (await running.gateway.calls.history({ limit: 1 })).items[0] ?? null)
    const asAdmin = { authorization: `Bearer ${running.admin}` }
    // Node adds its own once another kind of garbage collection has run.
    const own = async () =>
      (await scraped(running.gatewayUrl, asAdmin)).filter(({ name }) => name.startsWith('gazeway_'))
    const before = await until(async () => {
      const found = await own()
      return found.some(({ labels }) => labels.route === CHAT) ? found.length : null
    })
    for (let i = 1; i < 10_000; i++) {
      const requested = `scanned-${i}`
      const caller = `0x${i.toString(16).padStart(40, '0')}`
      const scanned = { ...record, call_id: `call_${i}`, requested_model: requested, model: requested }
      running.gateway.calls.record({ ...scanned, caller_id: caller, path: `/v1/${i}`, client: null } as CallRecord)
    }
    const samples = await own()
    const counted = samples.filter(({ name }) => name === 'gazeway_upstream_calls_total')
    assert.equal(
      counted.reduce((sum, { value }) => sum + value, 0),
      10_000,
    )
    assert.deepEqual([...new Set(counted.map(({ labels }) => labels.model))], ['other'])
    assert.ok(samples.length < before + 60, `${before} series, then ${samples.length}`)
    const byKey = samples.filter(({ name }) => name === 'gazeway_key_calls_total')
    assert.deepEqual(byKey.map(({ labels, value }) => [labels.key, value]).sort(), [
      ['other', 9_999],
      ['scanner', 1],
    ])
    const { record: late } = await running.gateway.keys.create({ name: 'late', scopes: ['inference'] })
    running.gateway.calls.record({ ...record, call_id: 'call_late', caller_id: late.id } as CallRecord)
    const after = (await scraped(running.gatewayUrl, asAdmin)).filter(({ name }) => name === 'gazeway_key_calls_total')
    assert.equal(after.find(({ labels }) => labels.key === 'late')?.value, 1, 'wallets take no place of a key')
  })

  it('are the same on both, with the routes of the platform by their templates', async () => {
    await ask(running, 'GET', '/api/tasks/task_of-nobody')
    await ask(running, 'GET', '/nowhere/at/all')
    const routes = (samples: Awaited<ReturnType<typeof scraped>>) =>
      samples.flatMap(({ name, labels: { service, route, status } }) =>
        name === 'gazeway_http_requests_total' && service === 'platform' ? [`${route} ${status}`] : [],
      )
    await until(async () => routes(await scraped(running.gatewayUrl)).length >= 2)
    for (const url of [running.url, running.gatewayUrl]) {
      const found = routes(await scraped(url))
      assert.ok(found.includes('/api/tasks/:id 404'), String(found))
      assert.ok(found.includes('unmatched 404'), String(found))
    }
  })

  it('are open to this machine on 8812 too, and ask others for a key of an admin, who alone sees names of keys', async () => {
    const { host } = new URL(running.url)
    const names = (samples: Array<{ name: string }>) => [...new Set(samples.map(({ name }) => name))]
    const { key: ofTeam } = await running.gateway.keys.create({ name: 'of-team', scopes: ['inference', 'platform'] })
    for (const url of [running.url, running.gatewayUrl]) {
      assert.equal((await scrapedAs(url, { host: 'gate.example' })).status, 401)
      // What the operator pays and all others do is no business of a key.
      for (const asked of [{ host: 'gate.example' }, { host: new URL(url).host }])
        assert.equal((await scrapedAs(url, { ...asked, key: ofTeam })).status, 403)
    }
    for (const [asked, isShown] of [
      [{ host }, false],
      [{ host, key: running.admin }, true],
      [{ host: 'gate.example', key: running.admin }, true],
    ] as const) {
      const { status, samples } = await scrapedAs(running.url, asked)
      assert.equal(status, 200)
      assert.ok(names(samples).includes('gazeway_upstream_calls_total'))
      const shown = names(samples).filter((name) => OF_KEYS.includes(name))
      assert.equal(shown.includes('gazeway_key_calls_total'), isShown)
      if (!isShown) assert.deepEqual(shown, [])
      const labels = samples.flatMap((sample) => Object.keys((sample as { labels: object }).labels))
      assert.equal(labels.includes('key'), isShown)
    }
  })

  it('have the money of as many keys as are asked for, those that run out first', async () => {
    const own = await startPlatform(upstream.url, {
      document: { http: { metrics_keys: 2 }, pricing: { models: { any: { input: 1000, output: 1000 } } } },
    })
    try {
      for (const usd of [4, 1, 3, 2]) {
        const limits = { budgets: [{ usd, per: 'total' as const }] }
        const { key } = await own.gateway.keys.create({ name: `of-${usd}`, scopes: ['inference'], limits })
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const body = JSON.stringify({ model: 'any', max_tokens: 10, messages: MESSAGES })
        const reply = await fetch(own.gatewayUrl + CHAT, { method: 'POST', headers, body })
        assert.equal(reply.status, 200, await reply.text())
      }
      await own.gateway.calls.flush()
      const samples = await scraped(own.url, { authorization: `Bearer ${own.admin}` })
      for (const name of ['gazeway_money_left_usd', 'gazeway_money_lasts_seconds', 'gazeway_debt_usd']) {
        const keys = samples.filter((one) => one.name === name).map(({ labels }) => labels.key)
        assert.deepEqual(keys.sort(), ['of-1', 'of-2'], name)
      }
    } finally {
      await own.close()
    }
  })

  it('are served while the process drains, and say so', async () => {
    const readiness = createReadiness(running.gateway.store, 'ready')
    const listening = await serveHttp(running.gateway, undefined, readiness)
    try {
      const draining = async () => (await scraped(listening.url)).find(({ name }) => name === 'gazeway_draining')?.value
      assert.equal(await draining(), 0)
      readiness.drain()
      assert.equal(await draining(), 1)
    } finally {
      await listening.stop()
    }
  })

  it('go on without the store, and say so', async () => {
    const away = await startPlatform('sandbox')
    try {
      const { db } = away.gateway.store
      await db.schema.alterTable('sweeps').renameTo('sweeps_away').execute()
      const value = async (name: string) => (await scraped(away.url)).find((one) => one.name === name)?.value
      assert.equal(await value('gazeway_store_up'), 0)
      assert.equal(await value('gazeway_tasks'), undefined)
      assert.equal(await value('gazeway_draining'), 0)
      await db.schema.alterTable('sweeps_away').renameTo('sweeps').execute()
      await until(async () => (await value('gazeway_store_up')) === 1)
      assert.equal(await value('gazeway_tasks'), 0)
    } finally {
      await away.close()
    }
  })
})
