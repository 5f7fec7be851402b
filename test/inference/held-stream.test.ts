import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { receiverOf } from '../../adapters/web/http-receiver.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { type CallDeps, createCallModel, createMakeCall } from '../../src/inference/call.ts'
import { createFacts } from '../../src/inference/dialect/facts.ts'
import { SHOWN_ALONE } from '../../src/inference/reasoning/reasoning.ts'
import { createRelays } from '../../src/inference/relay/relays.ts'
import { poolSend, type RequestPool } from '../../src/inference/relay/request-pool.ts'
import { createPlans } from '../../src/inference/route/route.ts'
import { createLateTerms } from '../../src/inference/settle/abandoned-answer.ts'
import { watchSilence } from '../../src/wire/idle-watch.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'
import * as double from '../doubles/upstream.ts'

const TIMEOUT_MS = 60_000
const HEARTBEAT_MS = 20
const HEARTBEAT = ': keepalive\n\n'
const CONTEXT = { surface: 'http' as const, callerId: null, requestId: 'r1' }

describe('a Responses stream whose model thinks', { timeout: 30_000 }, () => {
  let upstream: double.UpstreamDouble
  let pool: RequestPool
  let gateway: Server
  let recorded: CallRecord[] = []
  let served: Promise<unknown>

  before(async () => {
    upstream = await double.startUpstream()
    const one = upstreamAt(upstream.url, { timeout_ms: TIMEOUT_MS })
    pool = poolSend(one.provider, 5000)
    const calls = { record: (record: CallRecord) => void recorded.push(record) }
    const countTokens = async (text: string) => text.length
    const prices = { models: {}, price_per_1k_tokens_usd: 0.003 }
    const deps = {
      routing: routingTo(one),
      calls,
      countTokens,
      prices,
      storeContent: false,
      late: createLateTerms(0),
      facts: createFacts(),
      heartbeat: watchSilence(HEARTBEAT_MS),
      reasoning: SHOWN_ALONE,
    } as unknown as CallDeps
    const relays = createRelays(one, pool.send)
    const call = createCallModel(
      createMakeCall(deps),
      createPlans(deps, () => relays),
    )
    gateway = createServer(async (incoming, outgoing) => {
      const text = (await incoming.toArray()).join('')
      const receiver = receiverOf(
        {
          incoming,
          outgoing,
          requestId: 'r1',
          callerId: null,
          address: null,
          isPaid: false,
          isLenient: false,
          isCacheOff: false,
        },
        TIMEOUT_MS,
      )
      const request = { bytes: Buffer.from(text), text, json: JSON.parse(text) }
      served = call({ endpoint: '/responses', request, retries: 0, needsText: false }, receiver, CONTEXT)
      await served
    }).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
  })
  beforeEach(() => {
    recorded = []
    upstream.received.length = 0
  })
  after(async () => {
    gateway.close()
    gateway.closeAllConnections()
    await pool.close()
    await upstream.close()
  })

  /** Begins a stream, and leaves what comes then to `rest`, which is told when. */
  function thinks(events: unknown[], rest: double.Behaviour): { behaviour: double.Behaviour; speak: () => void } {
    let speak = () => {}
    const spoken = new Promise<void>((resolve) => {
      speak = resolve
    })
    const behaviour: double.Behaviour = async (response, request) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
      await spoken
      await rest(response, request)
    }
    return { behaviour, speak }
  }
  const says =
    (events: unknown[]): double.Behaviour =>
    (response) =>
      void response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))

  async function ask(leaving?: AbortSignal) {
    const { port } = gateway.address() as AddressInfo
    const reply = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: JSON.stringify({ input: 'Find it.', stream: true }),
      signal: leaving ?? null,
    })
    let text = ''
    const pieces = (reply.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
    const more = async () => {
      const { value, done } = await pieces.read()
      text += value ?? ''
      return !done
    }
    return {
      reply,
      /** Reads on until `count` comments have come. */
      async heartbeats(count: number): Promise<void> {
        while (text.split(HEARTBEAT).length <= count) assert.ok(await more(), text)
        assert.equal(text.replaceAll(HEARTBEAT, ''), '', 'nothing but comments')
      },
      async events() {
        while (await more());
        await served
        const data = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'))
        return data.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)))
      },
    }
  }
  const [created, inProgress, ...output] = double.responseEvents(['Found.'])
  const breaks: double.Behaviour = (response) => void response.socket?.destroy()

  it('sends keep-alives to its client, and is passed on unchanged once output begins', async () => {
    const { behaviour, speak } = thinks([created, inProgress], says(output))
    upstream.on('/responses', behaviour)
    const client = await ask()
    assert.equal(client.reply.headers.get('content-type'), 'text/event-stream')
    await client.heartbeats(3)
    speak()
    assert.deepEqual(await client.events(), [created, inProgress, ...output])
    assert.deepEqual(
      recorded.map(({ call_id, status }) => [call_id, status]),
      [[client.reply.headers.get('x-gazeway-call-id'), 'ok']],
    )
  })

  it('falls back in the same stream where it breaks off after all, whose own thoughts are waited for, too', async () => {
    const first = thinks([created], breaks)
    const second = thinks([], says(double.chunks(['From ', 'chat.'])))
    upstream.on('/responses', first.behaviour)
    upstream.on('/chat/completions', second.behaviour)
    const client = await ask()
    await client.heartbeats(1)
    first.speak()
    await client.heartbeats(8)
    second.speak()
    const events = await client.events()
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, i) => i),
    )
    assert.deepEqual([events[0].type, events.at(-1).response.output_text], ['response.created', 'From chat.'])
    assert.deepEqual(
      recorded.map(({ status }) => status),
      ['error', 'ok'],
    )
    assert.equal(recorded[1]?.fallback_from, client.reply.headers.get('x-gazeway-call-id'))
  })

  it('ends with the first error as its only event where the fallback fails, too', async () => {
    const { behaviour, speak } = thinks([created], breaks)
    upstream.on('/responses', behaviour)
    upstream.on('/chat/completions', double.fails(400))
    const client = await ask()
    await client.heartbeats(1)
    speak()
    const [event, ...others] = await client.events()
    assert.deepEqual([event.type, event.code, event.sequence_number], ['error', 'upstream_bad_reply', 0])
    assert.match(event.message, /its stream was cut off/)
    assert.deepEqual(others, [])
  })

  it('says from the first comment on that the fallback answers, where that alone thinks', async () => {
    const { behaviour, speak } = thinks([], says(double.chunks(['From chat.'])))
    upstream.on('/responses', double.fails(500))
    upstream.on('/chat/completions', behaviour)
    const client = await ask()
    assert.equal(client.reply.headers.get('x-gazeway-route'), 'chat_fallback')
    await client.heartbeats(2)
    speak()
    assert.equal((await client.events()).at(-1).type, 'response.completed')
  })

  it('is ended upstream when its client goes meanwhile, and so is the fallback', async () => {
    for (const gone of ['/responses', '/chat/completions']) {
      const first = thinks([created], breaks)
      upstream.received.length = 0
      upstream.on('/responses', first.behaviour)
      upstream.on('/chat/completions', double.hangs)
      const leaving = new AbortController()
      const client = await ask(leaving.signal)
      await client.heartbeats(1)
      if (gone === '/chat/completions') {
        first.speak()
        for (let beats = 2; upstream.received.length < 2; beats++) await client.heartbeats(beats)
      }
      leaving.abort()
      await upstream.received.at(-1)?.aborted
      assert.equal(upstream.received.at(-1)?.path, `/v1${gone}`)
      first.speak()
    }
    upstream.on('/responses', double.sse([created, inProgress, ...output], 'none'))
    assert.deepEqual(await (await ask()).events(), [created, inProgress, ...output], 'and others are served')
  })
})
