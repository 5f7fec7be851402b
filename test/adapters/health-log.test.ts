import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { scraped } from './scrape.ts'

const ASK = { model: 'gpt', messages: [{ role: 'user', content: 'Hello.' }] }

/** Lines of the log that begin with a message, as objects without what every line has. */
const lines = ({ logged }: RunningGateway, about: string) =>
  logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => String(msg).startsWith(about))
    .map(({ time: _, pid: __, ...line }) => line)

const call = async ({ url, key }: RunningGateway) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(ASK) })
  await reply.text()
  return reply.status
}

const gauge = async ({ url }: RunningGateway, name: string, labels: Record<string, string>) =>
  (await scraped(url)).find(
    (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )?.value

describe('the log of upstreams', () => {
  it('has a line for each change of a circuit breaker, and metrics have its state', async (t) => {
    const upstream = await double.startUpstream()
    const running = await startGateway(upstream.url, {}, { upstream: { max_retries: 0 } })
    t.after(() => Promise.all([running.close(), upstream.close()]))
    const own = { model: 'other', scope: 'one_key' }
    upstream.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 12; i++) await call(running)
    const circuit = { upstream: 'default', path: '/chat/completions', model: 'gpt', for_everyone: false }
    assert.deepEqual(lines(running, 'A circuit breaker'), [
      { level: 'warn', ...circuit, msg: 'A circuit breaker opened.' },
    ])
    assert.equal(await gauge(running, 'gazeway_circuits_open', own), 1)
    assert.equal(await gauge(running, 'gazeway_circuits_open', { model: 'all' }), 0)

    upstream.on('/chat/completions', double.json(200, double.completion('Back.')))
    await until(async () => (await call(running)) === 200)
    await call(running)
    assert.deepEqual(lines(running, 'A circuit breaker closed'), [
      { level: 'info', ...circuit, msg: 'A circuit breaker closed.' },
    ])
    assert.equal(await gauge(running, 'gazeway_circuits_open', own), undefined)
  })

  it('has a line for an upstream that takes no connection, and one once it does', async (t) => {
    const port = await freePort()
    const running = await startGateway(`http://127.0.0.1:${port}/v1`, {}, { upstream: { max_retries: 0 } })
    t.after(() => running.close())
    for (let i = 0; i < 12; i++) await call(running)
    const connection = { upstream: 'default', path: null, model: null, for_everyone: true }
    assert.deepEqual(lines(running, 'A circuit breaker'), [
      { level: 'warn', ...connection, msg: 'A circuit breaker opened.' },
    ])
    assert.equal(await gauge(running, 'gazeway_circuits_open', { model: 'all' }), 1)
    const back = await double.startUpstream(undefined, port)
    t.after(() => back.close())
    back.on('/chat/completions', double.json(200, double.completion('Back.')))
    await until(async () => (await call(running)) === 200)
    assert.equal(lines(running, 'A circuit breaker closed').length, 1)
  })

  it('has a line for a key that begins to rest, by its position', async (t) => {
    const upstream = await double.startUpstream()
    const keys = ['first-key-of-ours', 'second-key-of-ours']
    const named = { two: { provider: upstream.url, api_keys: keys, models: ['gpt'] } }
    const running = await startGateway(upstream.url, {}, { upstreams: named })
    t.after(() => Promise.all([running.close(), upstream.close()]))
    upstream.on('/chat/completions', double.fails(429, { 'retry-after': '20' }))
    await call(running)
    await call(running)
    assert.deepEqual(
      lines(running, 'A key of an upstream').map(({ upstream, key, model }) => [upstream, key, model]),
      [
        ['two', 1, 'gpt'],
        ['two', 2, 'gpt'],
      ],
    )
    assert.equal(await gauge(running, 'gazeway_keys_resting', { upstream: 'two' }), 2)
    assert.equal(await gauge(running, 'gazeway_upstream_keys', { upstream: 'two' }), 2)
    assert.ok(!running.logged.join('').includes('key-of-ours'))
  })
})
