import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import { chunks, completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1000 }
/** Reserves more than half of it for one call. */
const BUDGET = [{ usd: 0.006, per: 'day' as const }]
/** Time that the provider takes for a step, in milliseconds. */
const STEP_MS = 20

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url, { document: { wallet: { wait_ms: 20_000 } } })
})
after(async () => {
  await running.close()
  await upstream.close()
})

const newKey = (budgets: typeof BUDGET | [] = []) =>
  running.gateway.keys.create({ name: 'caller', scopes: ['inference'], billing: 'recorded', limits: { budgets } })
const chat = (key: string, body: object = {}) =>
  fetch(`${running.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...CHAT, ...body }),
  })
async function callsOf(caller_id: string): Promise<CallRecord[]> {
  await running.gateway.calls.flush()
  return (await running.gateway.calls.history({ caller_id, limit: 20 })).items
}

it('records when a streamed reply began, when its thoughts did, and when its text did', async () => {
  const said = chunks(['Hello.'])
  const [begun] = said
  const thought = {
    ...begun,
    choices: [{ index: 0, delta: { reasoning_content: 'They greet.' }, finish_reason: null }],
  }
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => {
    goOn = resolve
  })
  upstream.on('/chat/completions', async (reply) => {
    const write = (event: unknown) => reply.write(`data: ${JSON.stringify(event)}\n\n`)
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    await pause(STEP_MS)
    for (const event of [begun, thought, thought]) write(event)
    await isRead
    for (const event of said.slice(1)) write(event)
    reply.end('data: [DONE]\n\n')
  })
  const { key, record } = await newKey()
  const reply = await chat(key, { stream: true })
  const reader = (reply.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('They greet.')) text += (await reader.read()).value ?? ''
  // The thoughts have passed through: what comes next is later.
  await pause(STEP_MS)
  goOn()
  while (!(await reader.read()).done);
  const [call] = await callsOf(record.id)
  const { timing, latency_ms = 0, first_token_ms } = call ?? {}
  const { queue_ms = -1, first_byte_ms = -1, first_thought_ms = -1, first_text_ms = -1 } = timing ?? {}
  const times = [0, first_byte_ms, first_token_ms, first_thought_ms, first_text_ms, latency_ms]
  assert.ok(
    times.every((time, at) => at === 0 || Number(time) >= Number(times[at - 1])),
    JSON.stringify(times),
  )
  assert.ok(Number(first_text_ms) - Number(first_thought_ms) >= STEP_MS - 2, JSON.stringify(times))
  assert.ok(Number(queue_ms) >= 0 && Number(queue_ms) < 60_000, `${queue_ms}`)
})

it('records the first byte alone of a reply that is not streamed, and nothing of a call that was not sent', async () => {
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  const { key, record } = await newKey()
  await (await chat(key)).text()
  const [call] = await callsOf(record.id)
  const { first_byte_ms, first_thought_ms, first_text_ms } = call?.timing ?? {}
  assert.ok(Number(first_byte_ms) <= Number(call?.latency_ms), `${first_byte_ms} of ${call?.latency_ms}`)
  assert.deepEqual([first_thought_ms, first_text_ms], [null, null])
  const poor = await newKey([{ ...BUDGET[0], usd: 0.000_001, per: 'day' }])
  assert.equal((await chat(poor.key)).status, 402)
  assert.deepEqual(
    (await callsOf(poor.record.id)).map(({ status, timing }) => [status, timing]),
    [['refused', undefined]],
  )
})

it('records how long a call waited for what others hold of its budget', async () => {
  let answer = () => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  upstream.on('/chat/completions', async (reply, request) => {
    await isAnswered
    await pause(STEP_MS)
    await json(200, completion('Hello back'))(reply, request)
  })
  const { key, record } = await newKey(BUDGET)
  const asked = upstream.received.length
  const replies = [1, 2, 3].map(() => chat(key))
  await until(async () => upstream.received.length > asked)
  answer()
  for (const reply of replies) assert.equal((await reply).status, 200)
  // One after the other: the last waited for the answer of the one before it.
  const waits = (await callsOf(record.id)).map(({ timing }) => timing?.queue_ms ?? -1)
  assert.ok(waits.length === 3 && Math.max(...waits) >= STEP_MS / 2, waits.join())
})
