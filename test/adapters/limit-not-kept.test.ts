import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { startWebhook, type WebhookDouble } from '../doubles/webhook.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

/** Most that the operator bears, in micro-dollars: 2,000 tokens of an answer. */
const MOST = 20_000
const LIMIT = 100

let server: UpstreamDouble
let webhook: WebhookDouble
let running: RunningPlatform
before(async () => {
  server = await startUpstream()
  webhook = await startWebhook()
  running = await startPlatform(server.url, {
    // A token costs a micro-dollar, or ten.
    document: {
      pricing: { models: { any: { input: 1, output: 10 }, 'slow/late': { input: 1, output: 10 } } },
      upstreams: {
        slow: { provider: server.url, api_keys: ['secret-of-the-double'], models: ['slow/*'], timeout_ms: 1000 },
      },
      wallet: { absorbed_usd_per_day: MOST / 1e6 },
      alerts: { webhook_url: webhook.url, webhook_secret: webhook.secret },
    },
  })
})
after(async () => {
  await running.close()
  await webhook.close()
  await server.close()
})

/** Words that the provider has sent, which ignores the limit of its answers until its connection is closed. */
let sent = 0
const goesOn: Behaviour = async (response) => {
  const [, word] = chunks(['word '.repeat(20)], null)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  while (!response.destroyed && sent < 200_000) {
    sent += 20
    if (!response.write(`data: ${JSON.stringify(word)}\n\n`))
      await Promise.race([
        new Promise((resolve) => response.once('drain', resolve)),
        new Promise((resolve) => response.once('close', resolve)),
      ])
    await new Promise(setImmediate)
  }
  response.end('data: [DONE]\n\n')
}

const newKey = (billing: 'cost' | 'recorded') =>
  running.gateway.keys.create({ name: 'thief', scopes: ['inference'], billing, limits: { credit_limit_usd: 1 } })

const stream = (key: string, content = 'Hello', model = 'any') =>
  fetch(`${running.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content }],
      max_tokens: LIMIT,
      stream: true,
    }),
  })

const absorbedBy = async (caller_id: string) => {
  const { totals } = await running.gateway.wallet.periodStatement(new Date().toISOString().slice(0, 7), { caller_id })
  return { absorbed: Math.round(totals.absorbed_usd * 1e6), paid: Math.round(0 - totals.upstream_cost_usd * 1e6) }
}

describe('a stream whose model goes on beyond the limit of its client', () => {
  it('ends with an error once the operator bears no more of it, at the operator’s cost', async () => {
    const { key, record } = await newKey('cost')
    const noted: number[] = []
    const end = running.gateway.absorbedCalls.listen(({ micros }) => void noted.push(micros))
    server.on('/chat/completions', goesOn)
    const text = await (await stream(key)).text()
    assert.ok(sent < 100_000, `${sent}`)
    const [error = ''] = /data: (\{"error".*\})/.exec(text)?.slice(1) ?? []
    assert.equal(JSON.parse(error).error.code, 'limit_not_kept')
    const words = text.split('word ').length - 1
    assert.ok(words > 1.5 * LIMIT + 256, `${words}: not before it is clear`)
    const { absorbed, paid } = await absorbedBy(record.id)
    assert.ok(absorbed <= MOST && absorbed > MOST / 2, `${absorbed}`)
    assert.ok(paid <= 10 * LIMIT + 100, `${paid}`)
    const { items } = await running.gateway.wallet.usage({ caller_id: record.id, limit: 1 })
    assert.deepEqual([items[0]?.capped, items[0]?.charged], [true, true])
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
    end()
    assert.deepEqual(noted, [absorbed])
  })

  it('shares the bound of the day with the streams beside it', async () => {
    const { key, record } = await newKey('cost')
    server.on('/chat/completions', goesOn)
    sent = 0
    const texts = await Promise.all([1, 2, 3, 4].map(async () => (await stream(key)).text()))
    assert.ok(texts.every((text) => text.includes('limit_not_kept')))
    const { absorbed } = await absorbedBy(record.id)
    // What is not clear yet is never cut.
    assert.ok(absorbed <= MOST + 4 * 10 * (0.5 * LIMIT + 256), `${absorbed}`)
  })

  it('is reported to the operator once a day, and once more when the bound is reached', async () => {
    const { key, record } = await newKey('cost')
    const bodies = async () =>
      (
        await running.gateway.store.db
          .selectFrom('alert_messages')
          .select('body')
          .where('owner', '=', record.id)
          .orderBy('percent', 'desc')
          .execute()
      ).map(({ body }) => JSON.parse(body))
    const usage = { prompt_tokens: 10, completion_tokens: 1100, total_tokens: 1110 }
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const chunk of chunks(['Hi'], usage)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
    for (let call = 0; call < 2; call++) assert.equal((await stream(key)).status, 200)
    await until(async () => (await absorbedBy(record.id)).absorbed === MOST)
    const [first, reached] = await until(async () => {
      const all = await bodies()
      return all.length === 2 && all
    })
    assert.deepEqual(
      [first.type, first.data.kind, first.data.name, first.data.model],
      ['cost.absorbed', 'key', 'thief', 'any'],
    )
    assert.deepEqual([first.data.call_absorbed_usd, first.data.absorbed_usd_per_day], [0.01, 0.02])
    assert.deepEqual([reached.type, reached.data.absorbed_usd], ['cost.absorbed_limit', 0.02])
    const refused = await stream(key)
    assert.equal(refused.status, 403)
    assert.equal((await bodies()).length, 2)
  })
})

it('is no reason to refuse a key whose provider breaks its answers', async () => {
  const { key, record } = await newKey('cost')
  const usage = { prompt_tokens: 10, completion_tokens: LIMIT + 1, total_tokens: LIMIT + 11 }
  const answers = () => server.on('/chat/completions', sse(chunks(['Hi'], usage)))
  answers()
  assert.equal((await stream(key)).status, 200, 'a token more than its limit')
  server.on('/chat/completions', (response) => void response.socket?.destroy())
  await (await stream(key, 'words '.repeat(2 * MOST))).text()
  await until(async () => (await absorbedBy(record.id)).absorbed > MOST)
  await running.gateway.calls.flush()
  answers()
  const reply = await stream(key)
  assert.equal(reply.status, 200, await reply.text())
})

it('is no reason to refuse a key that pays for its answers, whose provider bills errors before them', async () => {
  const credit = { limits: { credit_limit_usd: 1 } }
  const { key, record } = await running.gateway.keys.create({ name: 'payer', scopes: ['platform'], ...credit })
  const told = (prompt_tokens: number) => ({ prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 })
  const failing = json(503, { error: { message: 'Died.' }, usage: told(MOST / 2) }, { 'retry-after-ms': '1' })
  server.on('/chat/completions', failing, json(200, completion('Hi', told(MOST))))
  const body = { model: 'llm-4-1-fast-reasoning', prompt: 'words '.repeat(MOST), max_tokens: 20, caller_id: key }
  const call = (asked: object) => ask(running, 'POST', '/api/wallet/metered/call', { key: null, body: asked })
  const first = await call(body)
  assert.equal(first.status, 200, await first.text())
  await until(async () => (await absorbedBy(record.id)).absorbed > MOST)
  await running.gateway.calls.flush()
  const second = await call({ ...body, prompt: 'Hello' })
  assert.equal(second.status, 200, await second.text())
})

describe('failures that a client can provoke', () => {
  /** Its prompt alone costs more than the bound. */
  const LONG = 'words '.repeat(2 * MOST)
  const failing = async (key: string, id: string, model: string) => {
    await (await stream(key, LONG, model)).text()
    await until(async () => (await absorbedBy(id)).absorbed > MOST)
    await running.gateway.calls.flush()
  }
  const answers = (prompt_tokens = 10) =>
    server.on(
      '/chat/completions',
      sse(chunks(['Hi'], { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 })),
    )

  it('refuse a key all models once requests that are refused and billed have cost as much', async () => {
    const { key, record } = await newKey('cost')
    const usage = { prompt_tokens: 3 * MOST, completion_tokens: 0, total_tokens: 3 * MOST }
    server.on('/chat/completions', json(400, { error: { message: 'Flagged.' }, usage }))
    await failing(key, record.id, 'any')
    answers()
    for (const model of ['any', 'slow/late']) {
      const reply = await stream(key, 'Hello', model)
      assert.deepEqual([reply.status, /limit_not_kept/.test(await reply.text())], [403, true])
    }
  })

  it('refuse a key the model that does not answer it in time, unless the key pays as much as it costs', async () => {
    const [poor, payer] = [await newKey('cost'), await newKey('cost')]
    answers(4 * MOST)
    assert.equal((await stream(payer.key, LONG)).status, 200)
    server.on('/chat/completions', () => {})
    await Promise.all([poor, payer].map(({ key, record }) => failing(key, record.id, 'slow/late')))
    answers()
    const refused = await stream(poor.key, 'Hello', 'slow/late')
    assert.equal(refused.status, 403)
    assert.match(await refused.text(), /limit_not_kept.*did not come in time.*more than the key pays/)
    assert.equal((await stream(poor.key)).status, 200, 'another model')
    const reply = await stream(payer.key, 'Hello', 'slow/late')
    assert.equal(reply.status, 200, await reply.text())
  })
})
