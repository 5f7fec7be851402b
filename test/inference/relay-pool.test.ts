import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { GazewayError } from '../../src/errors.ts'
import { type CallDeps, type CallModel, createCallModel, createMakeCall } from '../../src/inference/call.ts'
import { createFacts } from '../../src/inference/dialect/facts.ts'
import { SHOWN_ALONE } from '../../src/inference/reasoning/reasoning.ts'
import { watchHeartbeats } from '../../src/inference/relay/heartbeats.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import type { Relay } from '../../src/inference/relay/relay.ts'
import { createRelays } from '../../src/inference/relay/relays.ts'
import { poolSend, type RequestPool } from '../../src/inference/relay/request-pool.ts'
import { createPlans } from '../../src/inference/route/route.ts'
import { createLateTerms } from '../../src/inference/settle/abandoned-answer.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'
import * as double from '../doubles/upstream.ts'

/** Half of all: what one caller may use. */
const CONNECTIONS = 512
const TIMEOUT_MS = 1000
const CLIENT = { isGone: () => false, onGone() {} }

describe('the connections to a provider', () => {
  let server: double.UpstreamDouble
  let pool: RequestPool
  let relay: Relay
  let call: CallModel
  const recorded: CallRecord[] = []
  let open: () => ReturnType<Relay['open']>

  before(async () => {
    server = await double.startUpstream()
    const one = upstreamAt(server.url, { timeout_ms: TIMEOUT_MS })
    pool = poolSend(one.provider, 5000)
    const calls = { record: (record: CallRecord) => void recorded.push(record) }
    const relays = createRelays(one, pool.send)
    relay = relays.all[0]
    const deps = {
      routing: routingTo(one),
      calls,
      prices: { models: {}, price_per_1k_tokens_usd: 0.003 },
      storeContent: false,
      late: createLateTerms(0),
      facts: createFacts(),
      heartbeat: watchHeartbeats(),
      reasoning: SHOWN_ALONE,
    } as unknown as CallDeps
    call = createCallModel(
      createMakeCall(deps),
      createPlans(deps, () => relays),
    )
    open = () => relay.open('/chat/completions', { body: '{}', stream: true }, CLIENT)
  })
  after(async () => {
    await pool.close()
    await server.close()
  })

  it('are so many, and who waits for one in vain was not sent, which is no failure of the endpoint', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hello.']), 'hang'))
    let held: { abort(): void } | undefined
    for (let i = 0; i < CONNECTIONS; i++) {
      const reply = await open()
      assert.ok(reply.kind === 'stream')
      // As for a client that does not read: silence is nobody's fault then.
      reply.exchange.pause()
      held = reply.exchange
    }
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const waiting = await Promise.allSettled(Array.from({ length: 12 }, open))
    for (const end of waiting) {
      assert.ok(end.status === 'rejected' && end.reason instanceof GazewayError)
      const { code, status, message, retryAfterSeconds } = end.reason
      assert.deepEqual([code, status, retryAfterSeconds], ['too_many_requests', 429, 1])
      assert.match(
        message,
        /^Your requests .* share of the 1024 connections of Gazeway to \S+ for 1 s, and this one was not sent\. Send fewer/,
      )
    }
    const question = { input: 'Hello.', model: 'a' }
    const text = JSON.stringify(question)
    const request = { bytes: Buffer.from(text), text, json: question }
    const asked = { endpoint: '/responses' as const, request, retries: 0, needsText: false }
    const context = { surface: 'http' as const, callerId: null, requestId: null }
    await assert.rejects(call(asked, CLIENT as unknown as Receiver, context), {
      code: 'too_many_requests',
    })
    assert.deepEqual(
      recorded.map(({ path }) => path),
      ['/v1/responses'],
      'chat completions would wait for the same connections',
    )
    assert.equal(server.received.length, CONNECTIONS, 'nothing was sent')
    const next = open()
    held?.abort()
    assert.equal((await next).status, 200, 'the circuit stays closed, and a free connection is used')
    assert.equal(server.received.length, CONNECTIONS + 1, 'who has given up is not sent later')
  })
})

describe('an upstream that is at work', { timeout: 20_000 }, () => {
  it('is not silent while it sends signs of life', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const server = await double.startUpstream()
    let next = () => {}
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let sign = 0; sign < 4; sign++) {
        response.write(': PROCESSING\n\n')
        await new Promise<void>((resolve) => {
          next = resolve
        })
      }
      response.end('data: [DONE]\n\n')
    })
    const pool = poolSend({ baseUrl: server.url, timeoutMs: TIMEOUT_MS }, 5000)
    const request = { method: 'POST', path: '/chat/completions', headers: {}, body: '{}' }
    let heard = ''
    await new Promise<void>((resolve, reject) => {
      pool.send(request, {
        onHead() {},
        onData(chunk) {
          heard += chunk
          // Together longer than the limit.
          for (let passed = 0; passed < 0.6 * TIMEOUT_MS; passed += TIMEOUT_MS / 20) t.mock.timers.tick(TIMEOUT_MS / 20)
          next()
        },
        onEnd: resolve,
        onError: reject,
      })
    })
    assert.equal(heard, `${': PROCESSING\n\n'.repeat(4)}data: [DONE]\n\n`)
    await pool.close()
    await server.close()
  })
})
