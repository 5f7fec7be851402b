import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { AGENT_KEY, type AgentGatewayDouble, startAgentGateway } from '../doubles/agent-gateway.ts'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'
import { eventsOf, type SentEvent } from './sse.ts'

/** Error that pending callers get when the service stops. */
const STOPPING = [503, 'service_stopping', 'server_error']
const MESSAGE = 'Gazeway stopped before the answer was complete. Retry the request.'
/** The last moment at which those who wait are told, and when what is passed on is ended; in milliseconds. */
const LAST_WORDS_MS = 29_000
const DEADLINE_MS = 30_000

const toldOf = async (reply: Response) => {
  const { code, type } = await errorOf(reply)
  return [reply.status, code, type]
}

/** Stops a platform, as if so much time had passed since. @returns what serves it again */
function stopFor(t: TestContext, running: RunningPlatform, ms: number): Promise<() => Promise<void>> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stopped = running.pause()
  t.mock.timers.tick(ms)
  t.mock.timers.reset()
  return stopped
}

describe('a platform that stops while its upstream answers', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  beforeEach(async () => {
    upstream = await double.startUpstream()
    for (const path of ['/chat/completions', '/responses']) upstream.on(path, double.hangs)
    running = await startPlatform(upstream.url, {
      withHttp: false,
      platformPort: await freePort(),
      document: { upstream: { max_retries: 0 } },
    })
  })
  afterEach(async () => {
    await running.close()
    await upstream.close()
  })

  const isAsked = () => until(async () => upstream.received.length > 0)
  const balances = () => running.gateway.wallet.balances(running.keyId)
  const records = async () => {
    await running.gateway.calls.flush()
    return (await running.gateway.calls.history({ limit: 10 })).items.map(({ status, error }) => [status, error])
  }
  /** Stops the platform as it says its last words. @returns what serves it again, and waits until the client sees that */
  const stop = async (t: TestContext) => {
    const serve = await stopFor(t, running, LAST_WORDS_MS)
    return async () => {
      await serve()
      // On a connection of before, which the client has yet to see closed, a request fails.
      await until(async () => (await ask(running, 'GET', '/health').catch(() => null))?.ok ?? false)
    }
  }

  for (const model of ['llm-4-1-fast-reasoning', 'llm-4.20-0309-reasoning'])
    it(`gives back what was set aside for a metered call of ${model}, which may be made again`, async (t) => {
      const before = await balances()
      const body = { model, prompt: 'Say hello.', max_tokens: 20, caller_id: running.key }
      const call = () =>
        ask(running, 'POST', '/api/wallet/metered/call', { key: null, body, headers: { 'idempotency-key': 'once' } })
      const waiting = call()
      await isAsked()
      assert.ok((await balances()).held_usd > 0)
      const go = await stop(t)
      assert.deepEqual(await toldOf(await waiting), STOPPING)
      assert.deepEqual(await balances(), before)
      await upstream.received[0]?.aborted
      assert.deepEqual(await records(), [['error', MESSAGE]], 'and nothing falls back')

      await go()
      upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
      upstream.on('/responses', double.json(200, double.response('Hello.')))
      const again = await call()
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, null])
      const { billing } = (await again.json()) as { billing: { total_usd: number } }
      const after = await balances()
      const micros = (usd: number) => Math.round(usd * 1e6)
      assert.equal(micros(after.available_usd), micros(before.available_usd) - micros(billing.total_usd))
      assert.equal(after.held_usd, 0)
      assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
    })

  it('makes and locks nothing for a swarm that is being planned', async (t) => {
    const before = await balances()
    const waiting = ask(running, 'POST', '/api/tasks/swarm', { body: { goal: 'A cake.', reward_usd: 1 } })
    await isAsked()
    const go = await stop(t)
    assert.deepEqual(await toldOf(await waiting), STOPPING)
    assert.deepEqual(await records(), [['error', MESSAGE]])
    // What is set aside for further calls comes back soon.
    await until(async () => isDeepStrictEqual(await balances(), before))
    await go()
    const { total } = (await (await ask(running, 'GET', '/api/tasks')).json()) as { total: number }
    assert.equal(total, 0)
  })

  it('keeps nothing of chats that are being answered', async (t) => {
    const say = async (id: string, path: string) => {
      assert.equal((await ask(running, 'POST', '/api/sessions', { body: { id } })).status, 201)
      return ask(running, 'POST', `/api/sessions/${id}/${path}`, { body: { message: 'Hello?' } })
    }
    const waiting = say('whole', 'chat')
    const streaming = await say('streamed', 'chat/stream')
    await until(async () => upstream.received.length === 2)
    await stop(t)
    assert.deepEqual(await toldOf(await waiting), STOPPING)
    const events: SentEvent[] = []
    for await (const event of eventsOf(streaming)) events.push(event)
    const [error, done] = events.slice(-2)
    assert.deepEqual([error?.name, error?.data.error.code, done?.name], ['error', 'service_stopping', 'done'])
    const ended = ['error', MESSAGE]
    assert.deepEqual(await records(), [ended, ended])
    for (const id of ['whole', 'streamed']) {
      const session = await running.gateway.sessions.get(id, { userId: running.keyId, all: false })
      assert.equal(session.message_count, 0)
    }
  })
})

describe('a platform that stops while its agent gateway answers', () => {
  let agent: AgentGatewayDouble
  let running: RunningPlatform
  beforeEach(async () => {
    agent = await startAgentGateway('0.17')
    agent.sessions.set('theirs', { id: 'theirs', title: null, source: 'cli', last_active: 1, preview: '' })
    running = await startPlatform('sandbox', {
      withHttp: false,
      env: { GAZEWAY_AGENT_GATEWAY_URL: agent.url, GAZEWAY_AGENT_GATEWAY_KEY: AGENT_KEY },
    })
    const health = async () => (await (await ask(running, 'GET', '/health')).json()) as { upstream: { kind: string } }
    await until(async () => (await health()).upstream.kind === 'agent_gateway')
  })
  afterEach(async () => {
    await running.close()
    await agent.close()
  })

  for (const path of ['chat', 'chat/stream'])
    it(`notifies callers that wait for ${path} in one of its sessions`, async (t) => {
      agent.behave('hangs')
      const body = { message: 'Hello?' }
      const url = `/api/sessions/upstream:theirs/${path}`
      const waiting = ask(running, 'POST', url, { key: running.admin, body })
      await until(async () => agent.received.includes(`POST /api/sessions/theirs/${path}`))
      const stopped = stopFor(t, running, LAST_WORDS_MS)
      assert.deepEqual(await toldOf(await waiting), STOPPING)
      await stopped
    })
})

describe('a platform that stops while it passes on', () => {
  let server: double.UpstreamDouble
  let running: RunningPlatform
  beforeEach(async () => {
    server = await double.startUpstream()
    running = await startPlatform('sandbox', {
      withHttp: false,
      env: { GAZEWAY_AGENT_GATEWAY_URL: server.url, GAZEWAY_AGENT_GATEWAY_KEY: 'agent-secret-key' },
    })
  })
  afterEach(async () => {
    await running.close()
    await server.close()
  })

  const post = (path: string) => ask(running, 'POST', path, { body: { stream: true } })
  /** Reads a reply as it arrives. Resolves after the first chunk. */
  async function begun(reply: Response) {
    const reader = (reply.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value ?? ''
    return async () => {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value
      return text
    }
  }
  const lastEvent = (text: string) => {
    const [name, data] = /(?:event: (\w+)\n)?data: (.*)\n\n(?:: .*\n\n)?$/.exec(text)?.slice(1) ?? assert.fail(text)
    return { name, data: JSON.parse(data ?? '') }
  }

  it('answers 503 to callers without a first byte', async (t) => {
    server.on('/chat/completions', double.hangs)
    const waiting = post('/v1/chat/completions')
    await until(async () => server.received.some(({ path }) => path === '/v1/chat/completions'))
    const stopped = stopFor(t, running, DEADLINE_MS)
    assert.deepEqual(await toldOf(await waiting), STOPPING)
    await stopped
    await server.received.findLast(({ path }) => path === '/v1/chat/completions')?.aborted
  })

  it('notifies many callers at once, without a warning', async (t) => {
    const warnings: Error[] = []
    const note = (warning: Error) => void (warning.name === 'MaxListenersExceededWarning' && warnings.push(warning))
    process.on('warning', note)
    t.after(() => process.off('warning', note))
    server.on('/chat/completions', double.hangs)
    const many = Array.from({ length: 12 }, () => post('/v1/chat/completions'))
    // Each in a session of its own: those of one session are passed on in turn.
    const chats = Array.from({ length: 12 }, (_, i) => {
      server.on(`/api/sessions/theirs${i}/chat`, double.hangs)
      const path = `/api/sessions/upstream:theirs${i}/chat`
      return ask(running, 'POST', path, { key: running.admin, body: { message: 'Hello?' } })
    })
    await until(async () => server.received.filter(({ method }) => method === 'POST').length === 24)
    const stopped = stopFor(t, running, DEADLINE_MS)
    for (const reply of await Promise.all([...many, ...chats])) assert.deepEqual(await toldOf(reply), STOPPING)
    await stopped
    assert.deepEqual(warnings, [])
  })

  it('ends a stream of chunks with an error, whole events before it', async (t) => {
    server.on('/chat/completions', double.sse(double.chunks(['Half an ']).slice(0, 2), 'hang'))
    const rest = await begun(await post('/v1/chat/completions'))
    const stopped = stopFor(t, running, DEADLINE_MS)
    const { name, data } = lastEvent(await rest())
    assert.equal(name, undefined)
    assert.deepEqual(
      [data.error.code, data.error.type, data.error.message],
      ['service_stopping', 'server_error', MESSAGE],
    )
    assert.match(data.error.request_id, /^req_/)
    await stopped
    await server.received.findLast(({ path }) => path === '/v1/chat/completions')?.aborted
  })

  it('ends a stream of a Response with an event that counts on', async (t) => {
    const events = double.responseEvents(['Half an '])
    server.on('/responses', double.sse(events.slice(0, 4), 'hang'))
    const reply = await post('/v1/responses')
    const rest = await begun(reply)
    const stopped = stopFor(t, running, DEADLINE_MS)
    const text = await rest()
    const { name, data } = lastEvent(text)
    const count = text.split('event: response.').length - 1
    assert.deepEqual(
      [name, data.type, data.code, data.error.code, data.sequence_number],
      ['error', 'error', 'service_stopping', 'service_stopping', count],
    )
    await stopped
  })

  /** A reply that has begun, of which nothing can be passed on yet. */
  const half = (type: string, text: string) =>
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': type }).write(text)
    })

  it('ends a stream with an error in place of the half of an event', async (t) => {
    half('text/event-stream', 'data: {"half')
    const reply = await post('/v1/chat/completions')
    const stopped = stopFor(t, running, DEADLINE_MS)
    const text = await reply.text()
    assert.equal(lastEvent(text).data.error.code, 'service_stopping')
    assert.ok(!text.includes('half'), text)
    await stopped
  })

  it('answers 503 in place of the half of a reply without events', async (t) => {
    half('application/json', '{"half":')
    const waiting = post('/v1/chat/completions')
    await until(async () => server.received.some(({ path }) => path === '/v1/chat/completions'))
    const stopped = stopFor(t, running, DEADLINE_MS)
    assert.deepEqual(await toldOf(await waiting), STOPPING)
    await stopped
  })
})
