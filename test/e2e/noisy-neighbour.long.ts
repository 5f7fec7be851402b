import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

/** Calls of the neighbour for each kind of failure. */
const CALLS = 150
/** Requests of the hostile key at a time. */
const AT_ONCE = 4
/** Models that the neighbour asks: two that the hostile key asks too, and one of its own. */
const MODELS = ['shared', 'routed', 'quiet']
/** Failures of the hostile key before its neighbour begins: more than open a circuit of each model. */
const BEFORE = 40

/** Calls of the hostile key that never end: more than its share of the connections to an upstream. */
const HANGING = 600
/** Half of the connections to an upstream. */
const SHARE = 512

/** Failures that a key can bring about at an upstream by what it sends. */
const FAILURES: Readonly<Record<string, double.Behaviour>> = {
  'unavailable, as JSON': double.fails(503),
  'a limit that is reached': double.fails(429, { 'retry-after': '60' }),
  'a dropped connection': double.drops,
  'a bad gateway, as a web page': (response) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end('502'),
}

describe('a key whose calls all fail, beside one whose calls do not', { timeout: 240_000 }, () => {
  let upstream: double.UpstreamDouble
  let down: double.UpstreamDouble
  let gateway: GatewayProcess
  let hostile: string
  let neighbour: string

  before(async () => {
    upstream = await double.startUpstream()
    down = await double.startUpstream()
    down.on('/chat/completions', double.fails(500))
    upstream.on('/chat/completions', (response, request) => {
      const [message] = (request.body as { messages: { content: string }[] }).messages
      const fails = FAILURES[message?.content ?? '']
      return (fails ?? double.json(200, double.completion('Hello.')))(response, request)
    })
    const place = newPlace()
    const routes = [{ model: 'routed', to: ['default', 'down'] }]
    mkdirSync(place.data)
    writeFileSync(
      join(place.data, 'config.json'),
      JSON.stringify({ upstreams: { down: { provider: down.url } }, routes }),
    )
    gateway = await startGatewayProcess(place, {
      args: ['--platform', '--platform-port', '0', '--upstream', upstream.url],
    })
    const platform = await platformOf(gateway)
    const newKey = async (name: string) => {
      const reply = await fetch(`${platform}/api/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, scopes: ['inference'] }),
      })
      return ((await reply.json()) as { key: string }).key
    }
    hostile = await newKey('hostile')
    neighbour = await newKey('neighbour')
  })
  after(async () => {
    await gateway.stop()
    await upstream.close()
    await down.close()
  })

  async function ask(key: string, model: string, content: string, signal?: AbortSignal): Promise<boolean> {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
      ...(signal ? { signal } : {}),
    })
    await reply.text()
    return reply.ok
  }

  /** Fails with one key until stopped. @returns stops, and gives the number of failures */
  async function failWith(key: string, failure: string): Promise<() => Promise<number>> {
    let isStopped = false
    let failed = 0
    let enough = () => {}
    const isUnderWay = new Promise<void>((resolve) => {
      enough = resolve
    })
    const failing = Array.from({ length: AT_ONCE }, async (_, i) => {
      while (!isStopped) {
        assert.equal(await ask(key, i % 2 === 0 ? 'shared' : 'routed', failure), false)
        if (++failed === BEFORE) enough()
      }
    })
    await Promise.race([isUnderWay, ...failing])
    return async () => {
      isStopped = true
      await Promise.all(failing)
      return failed
    }
  }

  for (const failure of Object.keys(FAILURES))
    it(`costs its neighbour less than one call of a hundred: ${failure}`, async () => {
      const stop = await failWith(hostile, failure)
      let answered = 0
      for (let i = 0; i < CALLS; i++) if (await ask(neighbour, MODELS[i % MODELS.length] ?? '', 'Hello?')) answered++
      assert.ok((await stop()) >= BEFORE)
      assert.ok(answered > 0.99 * CALLS, `${answered} of ${CALLS} answered`)
    })

  it('leaves its neighbour a connection to the upstream, however many calls it keeps open', async () => {
    let hanging = 0
    upstream.on('/chat/completions', (response, request) => {
      const [message] = (request.body as { messages: { content: string }[] }).messages
      if (message?.content === 'hang') hanging++
      else return double.json(200, double.completion('Hello.'))(response, request)
    })
    const over = new AbortController()
    const calls = Array.from({ length: HANGING }, () => ask(hostile, 'quiet', 'hang', over.signal).catch(() => false))
    await until(() => hanging === SHARE, { what: () => `${hanging} calls hang`, seconds: 60 })
    for (let i = 0; i < 20; i++) assert.equal(await ask(neighbour, 'quiet', 'Hello?'), true)
    assert.equal(hanging, SHARE, 'further calls of the hostile key wait')
    over.abort()
    await Promise.all(calls)
    assert.equal(await ask(hostile, 'quiet', 'Hello?'), true, 'calls that are given up leave their connections')
  })
})
