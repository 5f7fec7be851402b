import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { createSseTap } from '../../src/inference/observe/sse-tap.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { onDouble } from '../e2e/gateway-process.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hello.' }], stream: true }
const QUESTION = { input: 'Hello.', stream: true }
const line = (event: unknown) => `data: ${JSON.stringify(event)}`

/** The upstream may be silent for four times as long. */
const WELL_BEFORE_SILENCE_MS = 30_000

/** Server-sent text that ends in order, whatever it says. */
const says =
  (text: string): double.Behaviour =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)

onDouble('a stream that ends badly', (gateway, upstream) => {
  const ask = async (path: string, body: object, readAfterMs = 0) => {
    const headers = { authorization: `Bearer ${gateway().key}`, 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(WELL_BEFORE_SILENCE_MS)
    const reply = await fetch(gateway().url + path, { method: 'POST', headers, body: JSON.stringify(body), signal })
    await setTimeout(readAfterMs)
    const text = await reply.text()
    return { text, events: text.split('\n\n').filter(Boolean).map(dataOf) }
  }
  const dataOf = (event: string) => {
    const data = event.split('\n').find((part) => part.startsWith('data: ')) ?? assert.fail(`not an event: ${event}`)
    return data === 'data: [DONE]' ? data : JSON.parse(data.slice(6))
  }
  /** The sum of a metric's samples that have a label of this value, or of all. */
  async function sumOf(metric: string, label?: string): Promise<number> {
    const text = await (await fetch(`${gateway().url}/metrics`)).text()
    const samples = text.split('\n').filter((sample) => sample.startsWith(`${metric}{`))
    const fitting = samples.filter((sample) => label === undefined || sample.includes(`"${label}"`))
    return fitting.reduce((sum, sample) => sum + Number(sample.split(' ').at(-1)), 0)
  }
  /** Counts the calls that ended this way. */
  const counted = (ending: 'ok' | 'error') => sumOf('gazeway_upstream_calls_total', ending)
  /** Counts `calls` calls by outcome. A call counts once its record is made, soon after the reply. */
  async function countedAs(calls: number, work: () => Promise<void>): Promise<{ ok: number; error: number }> {
    const before = { ok: await counted('ok'), error: await counted('error') }
    await work()
    return until(async () => {
      const more = { ok: (await counted('ok')) - before.ok, error: (await counted('error')) - before.error }
      return more.ok + more.error >= calls && more
    })
  }
  const [role, hello, finish] = double.chunks(['Hello.'], null)

  it('is an error where the upstream reports one, even if it then says [DONE]', async () => {
    upstream().on('/chat/completions', double.sse([role, hello, { error: { message: 'out of credit', code: 'x' } }]))
    const endings = await countedAs(1, async () => {
      const { events } = await ask('/v1/chat/completions', CHAT)
      assert.equal(events[2].error.message, 'out of credit')
      assert.equal(events.filter((event) => event.error).length, 1, 'once')
    })
    assert.deepEqual(endings, { ok: 0, error: 1 })
  })

  it('is over soon after an error, although the upstream keeps it open', async () => {
    const fault = { message: 'out of credit', code: 'x' }
    const output = double.responseEvents(['Hel', 'lo.']).slice(0, 5)
    for (const [path, body, events] of [
      ['/chat/completions', CHAT, [{ error: fault }]],
      ['/chat/completions', CHAT, [role, hello, { error: fault }]],
      ['/responses', QUESTION, [...output, { type: 'error', ...fault, sequence_number: output.length }]],
    ] as const) {
      upstream().received.length = 0
      upstream().on(path, double.sse([...events], 'hang'))
      const endings = await countedAs(1, async () => {
        const reply = await ask(`/v1${path}`, body)
        assert.deepEqual(reply.events, events)
      })
      assert.deepEqual(endings, { ok: 0, error: 1 })
      await upstream().received[0]?.aborted
    }
  })

  it('counts what a provider says that it used after an error', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
    const last = double.chunks([], usage).at(-1)
    upstream().on('/chat/completions', double.sse([role, hello, { error: { message: 'out of credit' } }, last], 'hang'))
    const before = await sumOf('gazeway_tokens_total')
    assert.deepEqual(await countedAs(1, async () => void (await ask('/v1/chat/completions', CHAT))), {
      ok: 0,
      error: 1,
    })
    assert.equal((await sumOf('gazeway_tokens_total')) - before, 18)
  })

  it('is passed on to its end where it goes on after an error', async () => {
    const words = Array.from({ length: 6 }, (_, i) => `word ${i} `)
    const events = double.chunks(words).map((chunk) => ({ ...chunk, error: { code: 0, message: '' } }))
    upstream().on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) {
        response.write(`${line(event)}\n\n`)
        await setTimeout(300)
      }
      response.end('data: [DONE]\n\n')
    })
    const { events: got } = await ask('/v1/chat/completions', { ...CHAT, stream_options: { include_usage: true } })
    assert.deepEqual(got, [...events, 'data: [DONE]'])
  })

  it('is passed on to its end where it waits for its reader after an error', async () => {
    const long = { error: { message: 'out of credit' }, more: 'x'.repeat(15_000_000) }
    upstream().on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${line(long)}\n\n`)
      await setTimeout(100)
      response.end(`${line(finish)}\n\ndata: [DONE]\n\n`)
    })
    const { events } = await ask('/v1/chat/completions', CHAT, 2500)
    assert.equal(events[0].more, long.more)
    assert.deepEqual(events.slice(1), [finish, 'data: [DONE]'])
  })

  it('never passes half an event on, nor writes an error into it', async () => {
    upstream().on('/chat/completions', says(`${line(role)}\n\n${line(hello)}\n\ndata: {"choices":[{"del`))
    const chat = await ask('/v1/chat/completions', CHAT)
    assert.equal(chat.events.at(-1).error.code, 'upstream_bad_reply')
    assert.equal(chat.events.length, 3)
    const events = double.responseEvents(['Hel', 'lo.']).slice(0, 4)
    upstream().on(
      '/responses',
      says(`${events.map(line).join('\n\n')}\n\nevent: response.output_text.delta\ndata: {"ty`),
    )
    const response = await ask('/v1/responses', QUESTION)
    assert.equal(response.events.at(-1).type, 'error')
    assert.deepEqual(
      response.events.map(({ sequence_number }) => sequence_number),
      [0, 1, 2, 3, 4],
    )
  })

  it('is an error when its connection is reset, and the next one succeeds', async () => {
    for (const path of ['/chat/completions', '/responses']) {
      const begun = path === '/responses' ? double.responseEvents(['Hel', 'lo.']).slice(0, 5) : [role, hello]
      upstream().on(path, (response) => {
        for (const event of begun) response.write(`${line(event)}\n\n`)
        setImmediate(() => response.socket?.resetAndDestroy())
      })
      const { text } = await ask(`/v1${path}`, path === '/responses' ? QUESTION : CHAT)
      assert.match(text, /"code":"upstream_bad_reply"/)
    }
    upstream().on('/chat/completions', double.sse([role, hello, finish]))
    assert.equal((await ask('/v1/chat/completions', CHAT)).events.at(-1), 'data: [DONE]')
  })

  it('is whole without the last blank line', async () => {
    upstream().on('/chat/completions', says([role, hello, finish].map(line).join('\n\n')))
    const { events } = await ask('/v1/chat/completions', CHAT)
    assert.deepEqual(events, [role, hello, finish, 'data: [DONE]'])
  })

  it('is one error when the upstream ends a response with one', async () => {
    const begun = double.responseEvents(['Hel', 'lo.']).slice(0, 4)
    const error = { type: 'error', code: 'server_error', message: 'busy', param: null, sequence_number: 4 }
    const failed = {
      type: 'response.failed',
      response: { ...double.response('Hel'), status: 'failed' },
      sequence_number: 4,
    }
    const endings = await countedAs(2, async () => {
      for (const last of [error, failed]) {
        upstream().on('/responses', double.sse([...begun, last], 'none'))
        assert.deepEqual((await ask('/v1/responses', QUESTION)).events, [...begun, last])
      }
    })
    assert.deepEqual(endings, { ok: 0, error: 2 })
  })

  it('is an error event, then a failed response, where chat answers for the responses endpoint', async () => {
    upstream().on('/responses', double.fails(400))
    upstream().on('/chat/completions', double.sse([role, hello, { error: { message: 'out of credit' } }]))
    const { events } = await ask('/v1/responses', QUESTION)
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ['error', 'response.failed'],
    )
    assert.match(events.at(-2).message, /out of credit/)
  })

  it('is the same where the chat stream just stops, without a finish reason', async () => {
    upstream().on('/responses', double.fails(400))
    upstream().on('/chat/completions', says(`${line(role)}\n\n${line(hello)}\n\n`))
    const { events } = await ask('/v1/responses', QUESTION)
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ['error', 'response.failed'],
    )
    assert.equal(events.at(-1).response.status, 'failed')
  })

  it('is an error where it just stops although each chunk has a finish reason, an empty one', async () => {
    const empty = ['', 'Hello.'].map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: '' }] }))
    upstream().on('/responses', double.fails(400))
    upstream().on('/chat/completions', double.sse(empty, 'none'))
    const endings = await countedAs(3, async () => {
      const { events } = await ask('/v1/chat/completions', CHAT)
      assert.deepEqual([events.length, events.at(-1).error.code], [3, 'upstream_bad_reply'])
      const response = await ask('/v1/responses', QUESTION)
      assert.equal(response.events.at(-1).type, 'response.failed')
    })
    assert.deepEqual(endings, { ok: 0, error: 3 })
  })

  it('is no error when an upstream says that there is none', async () => {
    const calm = double.chunks(['Hello.']).map((chunk) => ({ ...chunk, error: null }))
    upstream().on('/chat/completions', double.sse(calm))
    const { events } = await ask('/v1/responses', QUESTION)
    assert.equal(events.at(-1).type, 'response.completed')
  })
})

describe('a stream that arrives in pieces', () => {
  const events = [
    ...double.chunks(['Hé', '🙂', '"error":{"message":"said, not meant"}']),
    { error: { message: 'the key is s3cret', code: 's3cret' } },
  ]
  const crlf = events.map((event) => `${line(event)}\r\n\r\n`).join('')
  const whole = Buffer.from(`${crlf}: a comment\n\ndata: [DONE]\n\n`)
  function pass(pieces: Buffer[]) {
    const tap = createSseTap({ dropUsageChunk: true, secrets: ['s3cret'] })
    const out = [...pieces.map((piece) => tap.push(piece)), tap.rest()].filter((piece) => piece !== null)
    const { text } = tap.generated()
    return {
      passed: Buffer.concat(out).toString(),
      usage: tap.usage(),
      failed: tap.failed()?.message,
      text,
      ...tap.ending(),
    }
  }

  it('is read the same wherever it is cut', () => {
    const expected = pass([whole])
    assert.equal(expected.failed, 'the key is ***')
    assert.equal(expected.usage?.total_tokens, 15)
    assert.equal(expected.text, 'Hé🙂"error":{"message":"said, not meant"}')
    assert.ok(!expected.passed.includes('s3cret') && !expected.passed.includes('"usage":{'))
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(whole.length), { maxLength: 40 }), (cuts) => {
        const ends = [0, ...cuts.sort((a, b) => a - b), whole.length]
        const pieces = ends.slice(1).map((end, i) => whole.subarray(ends[i], end))
        assert.deepEqual(pass(pieces), expected)
      }),
    )
  })
})
