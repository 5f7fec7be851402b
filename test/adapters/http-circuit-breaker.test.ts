import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { holdTime } from './held-clock.ts'
import { ASK, errorOf, openGateway, QUESTION } from './http-gateway.ts'

const { server } = await openGateway()

describe('the circuit breaker of a model', () => {
  it('admits one probe to an endpoint whose circuit is open, and has nobody wait for it', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    const call = (signal?: AbortSignal) =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        ...(signal && { signal }),
      })
    let answer = () => {}
    const told = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.on('/chat/completions', async (response, received) => {
      await told
      await double.json(200, double.completion('Slow.'))(response, received)
    })
    const slow = call()
    await until(async () => server.received.length === 1)
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await call()
    server.on('/chat/completions', double.hangs)
    server.received.length = 0
    const leaving = new AbortController()
    let trial = call(leaving.signal)
    const isRefused = () => trial.then(({ status }) => status === 503)
    while (await Promise.race([isRefused(), until(async () => server.received.length === 1).then(() => false)]))
      trial = call(leaving.signal)

    assert.equal((await call()).status, 503, 'others are refused at once')
    answer()
    assert.equal((await slow).status, 200, 'what had been asked before is not held back')
    leaving.abort()
    await assert.rejects(trial)
    await server.received[0]?.aborted
    await until(async () => (await fresh.gateway.calls.history({ limit: 1, status: 'aborted' })).total === 1)
    assert.equal((await call()).status, 503, 'whoever leaves has not seen that it is back')
    assert.equal(server.received.length, 1)
  })

  it('keeps the circuit open whatever arrives for earlier requests', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    const call = () =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/chat/completions', double.fails(503))
    await call()
    let answer = () => {}
    const told = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.on('/chat/completions', async (response, received) => {
      await told
      await double.json(200, double.completion('Slow.'))(response, received)
    })
    const slow = call()
    await until(async () => server.received.length === 2)
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 9; i++) await call()
    answer()
    assert.equal((await slow).status, 200)
    server.received.length = 0
    assert.equal((await call()).status, 503)
    assert.equal(server.received.length, 0)
  })

  it('probes a lone upstream every second, and says when', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    const pass = holdTime(t)
    const retryAfter = async () => {
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
      return {
        isOpen: (await reply.text()).includes('circuit breaker is open'),
        seconds: Number(reply.headers.get('retry-after')),
      }
    }
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await retryAfter()
    for (let trial = 0; trial < 6; trial++) {
      assert.deepEqual(await retryAfter(), { isOpen: true, seconds: 1 })
      pass(999)
      assert.deepEqual(await retryAfter(), { isOpen: true, seconds: 1 })
      pass(1)
      assert.equal((await retryAfter()).isOpen, false, 'retried as soon as it was told')
    }
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    pass(1000)
    assert.deepEqual(await retryAfter(), { isOpen: false, seconds: 0 }, 'a second after it is back')
  })

  it('probes an upstream that another stands in for after growing pauses, and names it in the calls that pass it over', async (t) => {
    const other = await double.startUpstream()
    t.after(() => other.close())
    other.on('/chat/completions', double.json(200, double.completion('Hello.')))
    server.on('/chat/completions', double.fails(503))
    const upstreams = { first: { provider: server.url }, other: { provider: other.url } }
    const fresh = await startGateway('sandbox', {}, { upstreams, routes: [{ model: 'm', to: ['first', 'other'] }] })
    t.after(() => fresh.close())
    const call = async () => {
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ ...ASK, model: 'm' }),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers.get('x-gazeway-upstream'), 'other')
    }
    const lastRecord = async () => (await fresh.gateway.calls.history({ limit: 1 })).items[0]
    const pass = holdTime(t)
    for (let i = 0; i < 10; i++) await call()
    assert.deepEqual((await lastRecord())?.skipped, [])
    const probedAt: number[] = []
    for (let second = 1; second <= 31; second++) {
      server.received.length = 0
      pass(1000)
      await call()
      if (server.received.length > 0) probedAt.push(second)
    }
    assert.deepEqual(probedAt, [1, 3, 7, 15, 30])
    const { skipped, fallback_from } = (await lastRecord()) ?? {}
    assert.deepEqual([skipped, fallback_from], [[{ upstream: 'first', reason: 'circuit_open' }], null])
  })

  it('tries all upstreams of a model again within a second once all of them are open', async (t) => {
    const other = await double.startUpstream()
    t.after(() => other.close())
    for (const upstream of [server, other]) upstream.on('/chat/completions', double.fails(503))
    const upstreams = { first: { provider: server.url }, other: { provider: other.url } }
    const fresh = await startGateway('sandbox', {}, { upstreams, routes: [{ model: 'm', to: ['first', 'other'] }] })
    t.after(() => fresh.close())
    const call = () =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ ...ASK, model: 'm' }),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    const pass = holdTime(t)
    for (let i = 0; i < 10; i++) await call()
    for (let second = 0; second < 20; second++) {
      pass(1000)
      assert.equal((await call()).status, 503)
    }
    other.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal((await call()).status, 503, 'its last probe was this second')
    pass(1000)
    assert.equal((await call()).headers.get('x-gazeway-upstream'), 'other')
  })

  it('measures elapsed time, so a clock that is set back changes nothing', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const setBack = () => t.mock.timers.setTime(Date.now() - 3_600_000)
    const call = () =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/chat/completions', (response, received) => {
      setBack()
      return double.fails(503)(response, received)
    })
    for (let i = 0; i < 10; i++) await call()
    setBack()
    const reply = await call()
    assert.match(String((await errorOf(reply)).message), /circuit breaker is open/)
    assert.equal(reply.headers.get('retry-after'), '1')
    await fresh.gateway.calls.flush()
    const { items } = await fresh.gateway.calls.history({ limit: 20 })
    assert.ok(items.length >= 10)
    for (const { latency_ms } of items) assert.ok(latency_ms >= 0, `${latency_ms} ms`)
  })

  it('stays closed for replies that break off', async () => {
    const fresh = await startGateway(server.url)
    const statuses: number[] = []
    server.on(
      '/chat/completions',
      begins(200, (socket) => socket.resetAndDestroy()),
    )
    for (let i = 0; i < 12; i++) {
      const headers = { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' }
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers,
      })
      statuses.push(reply.status)
      await reply.body?.cancel()
    }
    assert.deepEqual(statuses, Array(12).fill(502))
    await fresh.close()
  })

  describe('an endpoint whose circuit is open', () => {
    let fresh: RunningGateway
    beforeEach(async () => {
      fresh = await startGateway(server.url)
    })
    afterEach(() => fresh.close())

    const call = (signal?: AbortSignal) =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        ...(signal && { signal }),
      })
    const statusOf = async (reply: Promise<Response>) => {
      const { status, body } = await reply
      await body?.cancel()
      return status
    }
    async function fails(): Promise<void> {
      server.on('/chat/completions', double.fails(503))
      for (let i = 0; i < 10; i++) await statusOf(call())
      server.received.length = 0
    }

    it('closes as soon as a reply has begun, however long the rest takes', async (t) => {
      const pass = holdTime(t)
      await fails()
      pass(1000)
      let finish = () => {}
      const text = JSON.stringify(double.completion('Slow.'))
      server.on(
        '/chat/completions',
        (response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, 20))
          finish = () => response.end(text.slice(20))
        },
        double.json(200, double.completion('Fast.')),
      )
      const slow = call()
      await until(async () => server.received.length === 1)
      await until(async () => (await statusOf(call())) === 200)
      assert.deepEqual(await Promise.all([statusOf(call()), statusOf(call())]), [200, 200])
      finish()
      assert.equal((await slow).status, 200)
      assert.match(await (await slow).text(), /Slow/)
    })

    it('gets another probe after each pause while the first has no reply yet', async (t) => {
      const pass = holdTime(t)
      await fails()
      const leaving = new AbortController()
      const tries: Promise<unknown>[] = []
      server.on('/chat/completions', double.hangs)
      pass(1000)
      for (let n = 1; n <= 6; n++) {
        tries.push(assert.rejects(call(leaving.signal)))
        await until(async () => server.received.length === n)
        const refused = await call()
        const seconds = Number(refused.headers.get('retry-after'))
        assert.equal((await errorOf(refused)).code, 'upstream_unreachable')
        assert.ok(seconds >= 1 && seconds <= 15, `${seconds} s`)
        pass(1000 * seconds)
      }
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      assert.deepEqual([await statusOf(call()), await statusOf(call())], [200, 200])
      leaving.abort()
      await Promise.all(tries)
      assert.equal(await statusOf(call()), 200)
    })
  })

  it('opens for an endpoint that keeps failing, and falls back at once', async () => {
    const fresh = await startGateway(server.url)
    const call = (path: string, body: unknown) =>
      fetch(fresh.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/responses', double.drops)
    server.on('/chat/completions', double.json(200, double.completion('From chat.')))
    for (let i = 0; i < 10; i++) await call('/v1/responses', QUESTION)
    server.received.length = 0
    assert.equal((await call('/v1/responses', QUESTION)).headers.get('x-gazeway-route'), 'chat_fallback')
    assert.deepEqual(
      server.received.map((entry) => entry.path),
      ['/v1/chat/completions'],
    )
    await fresh.close()
  })
})

/** Begins a reply with a status and 50 of its 500 bytes, and does the given to its connection then. */
const begins =
  (status: number, end: (socket: Socket) => void): double.Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': 500 })
    response.write(' '.repeat(50), () => end(response.socket as Socket))
  }
