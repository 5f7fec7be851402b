import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { freePort } from '../doubles/free-port.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble, startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace, type Place } from '../e2e/server.ts'

/** So long after its end, the record of a call is safe from the death of the process. */
const RECORDED_WITHIN_MS = 100
const CONNECTIONS = 32
const LOAD_MS = 1500

const post = ({ url, key }: GatewayProcess, path: string, body: object, signal?: AbortSignal) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
const CHAT = { messages: [{ role: 'user', content: 'Hello.' }] }

/** Call records in the store, read by another process than the gateway. */
async function storedCalls(place: Place) {
  const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
  try {
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db)
    assert.deepEqual(rows, [{ integrity_check: 'ok' }])
    return await store.db.selectFrom('calls').select(['call_id', 'status']).execute()
  } finally {
    await store.close()
  }
}

onDouble('clients that go away', (gateway, upstream) => {
  const streams: Record<string, { path: string; body: object; prepare: () => void }> = {
    'a chat': {
      path: '/v1/chat/completions',
      body: CHAT,
      prepare: () => upstream().on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang')),
    },
    'a response': {
      path: '/v1/responses',
      body: { input: 'Hello.' },
      prepare: () => upstream().on('/responses', double.sse(double.responseEvents(['Hel']).slice(0, 4), 'hang')),
    },
    'a response that chat gives': {
      path: '/v1/responses',
      body: { input: 'Hello.' },
      prepare() {
        upstream().on('/responses', double.fails(400))
        upstream().on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
      },
    },
  }
  for (const [name, { path, body, prepare }] of Object.entries(streams))
    it(`end the upstream’s work on ${name}, 20 times of 20`, async () => {
      prepare()
      const leave = async () => {
        const leaving = new AbortController()
        const reply = await post(gateway(), path, { ...body, stream: true }, leaving.signal)
        await reply.body?.getReader().read()
        leaving.abort()
      }
      await Promise.all(Array.from({ length: 20 }, leave))
      const asked = upstream().received.filter((entry) => (entry.body as { stream: boolean }).stream)
      const hung = asked.filter(({ path }) => name === 'a response' || path.endsWith('/chat/completions'))
      assert.equal(hung.length, 20)
      await Promise.all(hung.map(({ aborted }) => aborted))
    })

  it('end the upstream’s work before its first byte, 20 times of 20', async () => {
    for (const path of ['/chat/completions', '/responses']) {
      upstream().received.length = 0
      upstream().on(path, double.hangs)
      const leaving = new AbortController()
      const asked = new Promise<void>((resolve) => {
        upstream().on(path, () => void (upstream().received.length === 20 && resolve()))
      })
      const replies = Array.from({ length: 20 }, (_, i) =>
        post(gateway(), `/v1${path}`, { ...CHAT, input: 'Hello.', stream: i % 2 === 0 }, leaving.signal),
      )
      await asked
      leaving.abort()
      assert.ok((await Promise.allSettled(replies)).every(({ status }) => status === 'rejected'))
      assert.equal(upstream().received.length, 20, 'nobody is left to fall back for')
      await Promise.all(upstream().received.map(({ aborted }) => aborted))
    }
  })
})

it('keeps the records of all calls that ended 100 ms before it is killed, and serves again', async (t) => {
  const place = newPlace()
  const upstream = await startProvider()
  t.after(() => upstream.close())
  upstream.on('/chat/completions', (response, request) =>
    (request.body as { stream?: boolean }).stream
      ? double.sse(double.chunks(['Hel', 'lo.']))(response, request)
      : double.json(200, double.completion('Hello.'))(response, request),
  )
  const started = { args: ['--upstream', upstream.url] }
  const gateway = await startGatewayProcess(place, started)
  const ended: Array<{ id: string; at: number }> = []
  let killed = false

  async function load(): Promise<void> {
    for (let i = 0; !killed; i++) {
      try {
        const reply = await post(gateway, '/v1/chat/completions', { ...CHAT, stream: i % 4 === 0 })
        await reply.text()
        assert.equal(reply.status, 200)
        ended.push({ id: reply.headers.get('x-gazeway-call-id') ?? '', at: Date.now() })
      } catch (error) {
        if (!killed) throw error
      }
    }
  }
  const loads = Array.from({ length: CONNECTIONS }, load)
  const endedBefore = (time: number) => ended.filter(({ at }) => at < time - RECORDED_WITHIN_MS)
  const began = Date.now()
  // Longer where the machine is too busy for enough of them.
  while (Date.now() - began < LOAD_MS || endedBefore(Date.now()).length <= CONNECTIONS)
    await Promise.race([delay(50), ...loads])
  killed = true
  const killedAt = Date.now()
  gateway.kill('SIGKILL')
  await gateway.exit
  await Promise.all(loads)

  const stored = new Set((await storedCalls(place)).map(({ call_id }) => call_id))
  const lost = endedBefore(killedAt).filter(({ id }) => !stored.has(id))
  assert.deepEqual(
    lost.map(({ at }) => `${killedAt - at} ms before`),
    [],
  )

  const next = await startGatewayProcess(place, started)
  assert.equal((await post({ ...next, key: gateway.key }, '/v1/chat/completions', CHAT)).status, 200)
  assert.deepEqual(await next.stop(), { code: 0, signal: null })
  assert.equal((await storedCalls(place)).length, stored.size + 1)
})

it('two gateways that are each other’s provider say so, once each', async () => {
  const [first, second] = [await freePort(), await freePort()]
  const key = 'the-same-key-everywhere'
  const env = { GAZEWAY_UPSTREAM_API_KEY: key, GAZEWAY_API_KEY: key }
  const place = newPlace()
  const start = (port: number, other: number, at: Place) =>
    startGatewayProcess(at, { args: ['--port', String(port), '--upstream', `http://127.0.0.1:${other}/v1`], env })
  const gateways = [await start(first, second, place), await start(second, first, newPlace())] as const
  const reply = await post({ ...gateways[0], key }, '/v1/chat/completions', CHAT)
  const { error } = (await reply.json()) as { error: { code: string } }
  assert.deepEqual([reply.status, error.code], [508, 'loop_detected'])
  for (const gateway of gateways) assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  assert.equal((await storedCalls(place)).length, 1)
})

it('a gateway whose provider leads back to it says so, once', async () => {
  const place = newPlace()
  const port = await freePort()
  const key = 'the-same-key-everywhere'
  const env = { GAZEWAY_UPSTREAM_API_KEY: key, GAZEWAY_API_KEY: key }
  const args = ['--port', String(port), '--upstream', `http://127.0.0.1:${port}/v1`]
  const gateway = { ...(await startGatewayProcess(place, { args, env })), key }
  for (const [path, body] of [
    ['/v1/chat/completions', CHAT],
    ['/v1/chat/completions', { ...CHAT, stream: true }],
    ['/v1/responses', { input: 'Hello.' }],
  ] as const) {
    const reply = await post(gateway, path, body)
    const { error } = (await reply.json()) as { error: { code: string; message: string } }
    assert.deepEqual([reply.status, error.code], [508, 'loop_detected'])
    assert.match(error.message, /upstream\.provider/)
  }
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  // The Responses request had its fallback.
  assert.equal((await storedCalls(place)).length, 4)
})
