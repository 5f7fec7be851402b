import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import { startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'

const PRICES = { input: 3, output: 15 }
const USAGE = { prompt_tokens: 20, completion_tokens: 700, total_tokens: 720 }
const MICROS = USAGE.prompt_tokens * PRICES.input + USAGE.completion_tokens * PRICES.output
const part = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] })
const EVENTS = [part({ content: 'Hi' }), part({}, 'stop'), { choices: [], usage: USAGE }]
const REPLY = Buffer.from(
  [...EVENTS.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
)
/** Bytes that the provider sends at a time. */
const PIECE = 7
/** Clients at a time: fewer than answers that are read to their end. */
const AT_ONCE = 16

let upstream: UpstreamDouble
let running: RunningPlatform
let billed = 0

before(async () => {
  upstream = await startUpstream()
  upstream.on('/models', (reply) => void reply.end(JSON.stringify({ data: [{ id: 'agent' }] })))
  upstream.on('/chat/completions', async (reply) => {
    billed += MICROS
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let at = 0; at < REPLY.length; at += PIECE) {
      reply.write(REPLY.subarray(at, at + PIECE))
      await turn()
    }
    reply.end()
  })
  running = await startPlatform(upstream.url, { document: { pricing: { models: { agent: PRICES } } } })
})
after(async () => {
  await running?.close()
  await upstream.close()
})

for (const billing of ['recorded', 'cost'] as const)
  it(`a client that leaves after any byte of its answer makes its budget count all that is billed: ${billing}`, async () => {
    billed = 0
    const { key, record } = await running.gateway.keys.create({
      name: 'leaver',
      scopes: ['inference'],
      billing,
      limits: { budgets: [{ usd: 100, per: 'total' }], ...(billing === 'cost' && { credit_limit_usd: 100 }) },
    })

    async function leaveAfter(bytes: number): Promise<void> {
      const leaving = new AbortController()
      const reply = await fetch(`${running.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({
          model: 'agent',
          messages: [{ role: 'user', content: 'Hello' }],
          max_tokens: 1000,
          stream: true,
        }),
        signal: leaving.signal,
      })
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      for (let read = 0; read < bytes; ) {
        const { done, value } = await reader.read()
        if (done) return
        read += value.length
      }
      leaving.abort()
    }
    let next = 0
    async function leave(): Promise<void> {
      while (next <= REPLY.length) await leaveAfter(next++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, leave))
    const answers = REPLY.length + 1
    assert.equal(billed, answers * MICROS)
    await until(
      async () => {
        await running.gateway.calls.flush()
        const { items } = await running.gateway.keys.list({ limit: 100 })
        return items.find(({ id }) => id === record.id)?.spend.total_usd === billed / 1e6
      },
      { seconds: 30, what: 'the budget to have counted it all' },
    )
    const { items } = await running.gateway.calls.history({ caller_id: record.id, limit: 1000 })
    assert.equal(items.length, answers)
    assert.ok(
      items.every(({ usage }) => usage?.estimated !== true),
      'as reported',
    )
  })
