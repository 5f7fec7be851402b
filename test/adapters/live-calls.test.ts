import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createLiveCalls } from '../../adapters/platform/live-calls.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import { until } from '../doubles/until.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const PATH = '/api/calls/live'
const MOST_OF_KEY = 8

const CALL: CallRecord = {
  call_id: 'call_1',
  at: '2026-03-01T10:20:00.000Z',
  surface: 'http',
  address: null,
  caller_id: null,
  path: '/v1/responses',
  requested_model: 'm',
  model: 'm',
  upstream: 'double',
  stream: false,
  status: 'ok',
  http_status: 200,
  fallback_from: null,
  price_from: null,
  provider_key: null,
  ...NO_SESSION,
  skipped: [],
  latency_ms: 100,
  first_token_ms: null,
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  upstream_cost_usd: 0.001,
  error: null,
}

describe('the stream of calls', () => {
  let platform: RunningPlatform
  before(async () => {
    platform = await startPlatform('sandbox', { withHttp: false })
  })
  after(() => platform.close())

  const record = (call_id: string, change: Partial<CallRecord> = {}) =>
    platform.gateway.calls.record({ ...CALL, at: new Date().toISOString(), call_id, ...change })
  const newKey = async () => {
    const { key, record: made } = await platform.gateway.keys.create({ name: 'stream', scopes: ['inference'] })
    return { key, id: made.id }
  }

  it('has calls as they are recorded, for an admin all and for a key its own, without their content', async () => {
    const streams = await Promise.all([platform.admin, platform.key].map((key) => eventsOf(platform, key)))
    const content = { request: 'secret words', reply: null }
    record('call_live_1', { content })
    record('call_live_2', { content, caller_id: platform.keyId })
    const [all, its] = await Promise.all([streams[0]?.read('call_live_2'), streams[1]?.read('call_live_2')])
    assert.match(all ?? '', /call_live_1/)
    assert.doesNotMatch(its ?? '', /call_live_1/)
    assert.doesNotMatch(`${all}${its}`, /secret words/)
    assert.equal((await ask(platform, 'GET', `${PATH}?limit=3`)).status, 422)
    for (const stream of streams) await stream.end()
  })

  it('has a long call that is recorded behind many later ones, and each call of a burst', async () => {
    const stream = await eventsOf(platform, platform.admin)
    const burst = Array.from({ length: 120 }, (_, i) => `call_burst_${String(i).padStart(3, '0')}.`)
    for (const call_id of burst) record(call_id)
    const text = await stream.read(...burst)
    assert.ok(!text.includes('call_long'))
    record('call_long', { at: new Date(Date.now() - 120_000).toISOString(), latency_ms: 120_000 })
    await stream.read('call_long')
    await stream.end()
  })

  it('ends when its key is revoked, and when its secret is rotated', async () => {
    const { keys } = platform.gateway
    for (const end of [(id: string) => keys.revoke(id), (id: string) => keys.rotate(id, { grace_seconds: 0 })]) {
      const { key, id } = await newKey()
      const stream = await eventsOf(platform, key)
      await end(id)
      await stream.ended()
      assert.equal((await ask(platform, 'GET', PATH, { key })).status, 401)
    }
  })

  it('has eight places for a key, which no race and no HEAD takes from others, and which are given back', async () => {
    const { key } = await newKey()
    const head = async () => (await ask(platform, 'HEAD', PATH, { key })).status
    assert.deepEqual(await Promise.all(Array.from({ length: MOST_OF_KEY + 1 }, head)), Array(MOST_OF_KEY + 1).fill(200))
    const replies = await Promise.all(
      Array.from({ length: MOST_OF_KEY + 4 }, () => ask(platform, 'GET', PATH, { key })),
    )
    const [opened, refused] = [200, 429].map((status) => replies.filter((reply) => reply.status === status))
    assert.deepEqual([opened?.length, refused?.length], [MOST_OF_KEY, 4])
    await (await eventsOf(platform, platform.admin)).end()
    for (const reply of opened ?? []) await reply.body?.cancel()
    await until(async () => {
      const reply = await ask(platform, 'GET', PATH, { key })
      await reply.body?.cancel()
      return reply.status === 200
    })
  })

  it('reads nothing for a client that takes nothing, and ends its connection', async () => {
    let [reads, drops] = [0, 0]
    const open = createLiveCalls(new AbortController().signal, { lookMs: 1, stallMs: 50 })
    const read = async () => {
      reads += 1
      return [CALL]
    }
    const stream = { keyId: 'key_1', check: async () => {}, read, drop: () => void ++drops }
    const replies = await Promise.all(Array.from({ length: MOST_OF_KEY }, () => open(stream)))
    assert.equal(replies.length, MOST_OF_KEY)
    await until(() => drops === MOST_OF_KEY)
    assert.equal(reads, MOST_OF_KEY, 'only the first reads, before the streams began')
    await open(stream)
  })
})

/** Opens the stream of calls. `read` returns its text up to the words, `ended` waits for its end. */
async function eventsOf(platform: RunningPlatform, key: string) {
  const reply = await ask(platform, 'GET', PATH, { key })
  assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.ok(reader)
  const first = await reader.read()
  assert.equal(first.value, ': live\n\n')
  return {
    async read(...words: string[]): Promise<string> {
      let text = ''
      while (!words.every((word) => text.includes(word))) {
        const part = await inTime(10_000, reader.read())
        assert.ok(part, `Waited 10 s for ${words.join(', ')} after: ${text}`)
        assert.ok(!part.done, 'the stream goes on')
        text += part.value
      }
      return text
    },
    async ended(): Promise<void> {
      while (!(await reader.read()).done);
    },
    end: () => reader.cancel(),
  }
}
