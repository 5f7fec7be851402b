import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { until } from '../doubles/until.ts'
import { completion, hangs, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { withFlatPrices } from './flat-prices.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { runHere } from './in-process.ts'
import { newPlace, putStore } from './server.ts'

let upstream: UpstreamDouble
before(async () => {
  upstream = await startUpstream()
})
after(() => upstream.close())

it('what a killed gateway had reserved is presumed spent, until its journal or an admin says otherwise', async () => {
  const place = withFlatPrices(newPlace())
  putStore(place)
  const gazeway = (...args: string[]) =>
    runHere(place, args, { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: 'k' })
  const made = await gazeway('key', 'create', '--name', 'ann', '--budget', '1/total')
  assert.equal(made.code, 0, made.stderr)
  const gateway = await startGatewayProcess(place, {
    args: ['--upstream', upstream.url],
    env: { GAZEWAY_API_KEY: 'fixed-admin-key-0123456789' },
  })
  const ask = (max_tokens: number) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${made.stdout.trim()}` },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }], max_tokens }),
    })
  upstream.on('/chat/completions', hangs)
  const unanswered = ask(10_000).catch(() => null)
  await until(async () => upstream.received.some(({ path }) => path.endsWith('/chat/completions')))
  upstream.on(
    '/chat/completions',
    json(200, completion('Hi.', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })),
  )
  assert.equal((await ask(100)).status, 200)
  // Its record is not written yet.
  gateway.kill('SIGKILL')
  await Promise.all([gateway.exit, unanswered])

  // As after the 45 s for which a process holds what it reserved.
  const store = await openStore(`sqlite:${place.data}/gazeway.db`)
  await store.db.updateTable('allowances').set({ renewed_at: '2026-01-01T00:00:00.000Z' }).execute()
  await store.close()

  const of = async () => {
    const { stdout } = await gazeway('key', 'list', '--json')
    const { items } = JSON.parse(stdout) as {
      items: Array<{ name: string; presumed_usd: number; spend: { total_usd: number } }>
    }
    const ann = items.find(({ name }) => name === 'ann')
    return { presumed: ann?.presumed_usd ?? 0, spent: ann?.spend.total_usd }
  }
  const { stdout } = await gazeway('doctor', '--recover')
  assert.match(stdout, /^ok +recovery +journals: 1; counted calls: [12], /m)
  assert.match(stdout, /^warn +presumed +0\.03\d* USD of 1 keys are presumed spent.*gazeway key release/m)
  const left = await of()
  assert.equal(left.spent, 0.000045, 'the call that was answered, at 3 micro-dollars a token')
  // 10,000 tokens and the prompt of the call that was running.
  assert.ok(left.presumed >= 0.03 && left.presumed < 0.033, `${left.presumed}`)

  const released = await gazeway('key', 'release', 'ann')
  assert.equal(released.code, 0, released.stderr)
  assert.deepEqual(await of(), { presumed: 0, spent: 0.000045 })
})
