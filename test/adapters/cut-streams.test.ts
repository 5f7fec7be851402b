import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { responseEvents } from '../../src/inference/convert/response-events.ts'
import { chunks, response, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { ask } from '../matrix/clients.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url, { document: { wallet: { wait_ms: 0, max_output_tokens: 500 } } })
})
after(async () => {
  await running.close()
  await upstream.close()
})

it('a Response that a second candidate continues costs what was delivered where its budget ends, and says so', async () => {
  const begun = [...responseEvents(response('Hello'))].slice(0, 2)
  upstream.on('/responses', (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(begun.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), () => reply.socket?.destroy())
  })
  const words = Array.from({ length: 2000 }, (_, at) => ` word${at % 977}`)
  upstream.on('/chat/completions', sse(chunks(words, null)))
  const limits = { credit_limit_usd: 0.004 }
  const { key, record } = await running.gateway.keys.create({
    name: 'poor',
    scopes: ['inference'],
    billing: 'cost',
    limits,
  })
  const door = { url: running.gatewayUrl, key, headers: {} }
  const got = await ask('R', { input: 'Hello', model: 'default/m', stream: true }, door)
  assert.deepEqual([got.status, got.said, got.faults], [200, null, []], got.reason)
  assert.match(got.reason, /was cut off: the budget or credit of this key is used up/)

  await running.gateway.calls.flush()
  const { items } = await running.gateway.calls.history({ caller_id: record.id, limit: 10 })
  assert.deepEqual(
    items.map(({ path, status }) => [path, status]),
    [
      ['/v1/chat/completions', 'error'],
      ['/v1/responses', 'error'],
    ],
  )
  const receipts = (await running.gateway.wallet.usage({ caller_id: record.id, limit: 10 })).items
  const paid = receipts.reduce((sum, { billing }) => sum + billing.total_usd, 0)
  // 3 micro-dollars a token, and a quarter more is reserved than its tokens cost.
  assert.ok(paid > 0.002 && paid <= 0.004, `${paid}`)
  assert.ok(receipts.every(({ usage }) => usage?.estimated))
})
