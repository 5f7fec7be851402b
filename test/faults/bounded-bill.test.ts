import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { countUnmatched } from '../../src/wallet/receipts/missing-records.ts'
import { ask, type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  response,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Prices of the scripted provider, in US dollars per 1,000,000 tokens. */
const PRICES = { input: 3, output: 15 }
const MOST = 64_000
/** The longest prompt and answer of a session's turn. */
const BYTES_PER_TOKEN = 4

let upstream: UpstreamDouble
let running: RunningPlatform
/** Bill of the provider, in micro-dollars. */
let billed = 0
/** Answer tokens that the model generates if its limit allows. */
let generates = (_turn: number) => 1000
let turns = 0

/** Answers as long as the limit allows, bills it, and refuses what the real provider refuses. */
const provider: Behaviour = async (reply, request) => {
  const { max_tokens = MOST, stream } = request.body as { max_tokens?: number; stream?: boolean }
  if (max_tokens > MOST) {
    const message = `max_tokens is too large: ${max_tokens}. This model supports at most ${MOST} completion tokens.`
    return json(400, { error: { message, param: 'max_tokens' } })(reply, request)
  }
  const prompt_tokens = Math.ceil(request.bytes.length / BYTES_PER_TOKEN)
  const completion_tokens = Math.min(max_tokens, generates(turns++))
  billed += prompt_tokens * PRICES.input + completion_tokens * PRICES.output
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  await delay(20)
  await (stream ? sse(chunks(['Done.'], usage)) : json(200, { ...completion('Done.'), usage }))(reply, request)
}

before(async () => {
  upstream = await startUpstream()
  upstream.on('/models', json(200, { data: [{ id: 'agent', top_provider: { max_completion_tokens: MOST } }] }))
  upstream.on('/chat/completions', provider)
  running = await startPlatform(upstream.url, {
    document: {
      pricing: {
        models: { agent: PRICES, scribe: { input: 0, output: 0, units: { audio_second: 0.0001 } } },
      },
      upstreams: {
        grok: { provider: 'xai', base_url: upstream.url, api_keys: ['secret-of-the-double'] },
        router: {
          provider: 'openrouter',
          base_url: upstream.url,
          api_keys: ['secret-of-the-double'],
          models: ['agent'],
        },
        gone: { provider: 'http://127.0.0.1:1/v1', api_keys: ['secret-of-the-double'], models: ['gone/*'] },
        slow: { provider: upstream.url, api_keys: ['secret-of-the-double'], models: ['slow/*'], timeout_ms: 1000 },
      },
    },
  })
})
after(async () => {
  await running?.close()
  await upstream.close()
})

/** A key with a budget, its calls, and what is counted for it. */
async function budgeted(usd: number) {
  const { send, ...of } = await newKey(usd)
  const ask = async (body: object) => {
    const reply = await send('/chat/completions', JSON.stringify({ model: 'agent', ...body }))
    return { status: reply.status, text: await reply.text() }
  }
  return { ask, ...of }
}

/** A key with a budget, and what is counted for it. */
async function newKey(usd: number, billing: 'recorded' | 'cost' = 'recorded') {
  billed = 0
  const { key, record } = await running.gateway.keys.create({
    name: 'agent',
    scopes: ['inference'],
    billing,
    limits: { budgets: [{ usd, per: 'total' }], ...(billing === 'cost' && { credit_limit_usd: usd }) },
  })
  const send = (path: string, body: string | FormData | null, method = 'POST') =>
    fetch(`${running.gatewayUrl}/v1${path}`, {
      method,
      headers: {
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        authorization: `Bearer ${key}`,
      },
      body,
    })
  async function counted(): Promise<number> {
    const left = running.gateway.store.db
      .selectFrom('allowances')
      .select('id')
      .where('key_id', '=', record.id)
      .where('micros', '>', 0)
    await until(async () => (await left.execute()).length === 0)
    return spent()
  }
  /** Sum that is counted by now. */
  async function spent(): Promise<number> {
    await running.gateway.calls.flush()
    const { items } = await running.gateway.keys.list({ limit: 1000 })
    return Math.round((items.find(({ id }) => id === record.id)?.spend.total_usd ?? 0) * 1e6)
  }
  return { send, counted, spent, id: record.id }
}

describe('the bill of the provider', () => {
  for (const stream of [false, true])
    it(`is counted to the micro-dollar, within the budget, for answers as long as their limit: ${stream ? 'streamed' : 'whole'}`, async () => {
      generates = () => 100_000
      const { ask, counted } = await budgeted(2)
      const messages = [{ role: 'user', content: 'Go on for as long as you may.' }]
      let answered = 0
      for (let round = 0; round < 12; round++) {
        const replies = await Promise.all(Array.from({ length: 8 }, () => ask({ messages, stream })))
        answered += replies.filter(({ status }) => status === 200).length
      }
      assert.ok(answered >= 8, `${answered} answered`)
      assert.equal(await counted(), billed)
      assert.ok(billed <= 2_000_000 && billed > 1_700_000, `${billed}`)
    })

  it('is counted where the client asks for more than one answer', async () => {
    generates = () => 30_000
    const { ask, counted } = await budgeted(1)
    const { status } = await ask({ messages: [{ role: 'user', content: 'Three.' }], n: 3 })
    assert.equal(status, 200)
    assert.equal(await counted(), billed)
  })
})

/** Answers in a way that does not tell what it bills. */
const tells = (body: object, micros: number, status = 200): Behaviour => {
  const answer = json(status, body)
  return (reply, request) => {
    billed += micros
    return answer(reply, request)
  }
}
const QUEUED = { ...response(''), id: 'resp_1', status: 'queued', output: [], usage: null }
/** A recording of hours, by its address. */
const LINKED = new FormData()
LINKED.set('model', 'router/scribe')
LINKED.set('url', 'https://example.com/a-day.ogg')
/** A few bytes and a recording of hours, in fields of one name. */
const LINKED_SECOND = new FormData()
LINKED_SECOND.set('model', 'router/scribe')
for (const url of ['data:audio/ogg;base64,AA', 'https://example.com/a-day.ogg']) LINKED_SECOND.append('url', url)
const RECORDING = new FormData()
RECORDING.set('model', 'router/scribe')
RECORDING.set('response_format', 'verbose_json')
RECORDING.set('file', new Blob([new Uint8Array(500)]))

/** Requests by which a thief hides what they cost, and what they get. */
const HIDDEN: Array<[what: string, path: string, body: string | FormData, reply: Behaviour, status: number]> = [
  [
    'a field twice, of which the provider reads the first',
    '/responses',
    '{"model":"agent","input":"Hi","max_output_tokens":5000,"background":true,"background":false}',
    tells(QUEUED, 5000 * PRICES.output),
    200,
  ],
  [
    'an answer that is to be fetched later',
    '/chat/completions',
    '{"model":"grok/agent","messages":[{"role":"user","content":"Hi"}],"max_tokens":5000,"deferred":true}',
    tells({ request_id: '1' }, 5000 * PRICES.output),
    400,
  ],
  [
    'a long recording in few bytes, whose answer has no usage',
    '/audio/transcriptions',
    RECORDING,
    tells({ text: 'Hi', duration: 3599.5 }, 360_000),
    200,
  ],
  [
    'several images in one stream, each with its usage',
    '/images/generations',
    JSON.stringify({ model: 'agent', prompt: 'Two cats', n: 2, stream: true }),
    async (reply, request) => {
      const usage = { input_tokens: 20, output_tokens: 4160, total_tokens: 4180 }
      billed += 2 * (20 * PRICES.input + 4160 * PRICES.output)
      const image = { type: 'image_generation.completed', b64_json: 'AA', usage }
      await sse([image, image], 'none')(reply, request)
    },
    200,
  ],
  ['a recording by its address', '/audio/transcriptions', LINKED, tells({ text: 'Hi' }, 8_640_000), 400],
  ['one by its address after another', '/audio/transcriptions', LINKED_SECOND, tells({ text: 'Hi' }, 8_640_000), 400],
  [
    'one by its address in a list',
    '/audio/words',
    JSON.stringify({ model: 'router/scribe', url: LINKED_SECOND.getAll('url') }),
    tells({ text: 'Hi' }, 8_640_000),
    400,
  ],
  [
    'speech that is slow, and tells no usage',
    '/audio/speech',
    JSON.stringify({ model: 'agent', voice: 'a', input: 'a'.repeat(4000), speed: 0.25 }),
    (reply) => {
      // A minute has 1,250 tokens, and about 900 letters at full speed.
      billed += Math.ceil((4000 / 900) * 4 * 1250 * PRICES.output)
      reply.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(100))
    },
    200,
  ],
]
it('is counted where a request hides it', async () => {
  for (const [what, path, body, reply, status] of HIDDEN) {
    upstream.on(path, reply)
    const { send, counted } = await newKey(2)
    const answer = await send(path, body)
    assert.equal(answer.status, status, `${what}: ${await answer.text()}`)
    assert.ok((await counted()) >= billed, `${what}: ${await counted()} of ${billed}`)
  }
  upstream.on('/chat/completions', provider)
})

/** Memory that is in use once what nobody refers to is collected. */
async function heldBytes(): Promise<number> {
  upstream.received.length = 0
  for (let turns = 0; turns < 5; turns++) {
    await delay(20)
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it('is nothing where a stream of images has an error alone, and no customer pays', async () => {
  const blocked = { type: 'error', error: { code: 'moderation_blocked', message: 'The prompt is against the rules.' } }
  upstream.on('/images/generations', sse([blocked], 'none'))
  for (const billing of ['recorded', 'cost'] as const)
    for (const n of [1, 2]) {
      const { send, counted } = await newKey(2, billing)
      const reply = await send(
        '/images/generations',
        JSON.stringify({ model: 'agent', prompt: 'Cats', n, stream: true }),
      )
      assert.match(await reply.text(), /moderation_blocked/)
      assert.equal(await counted(), 0, `${n} of a key that is ${billing}`)
    }
})

describe('a stream of images', () => {
  const path = '/images/generations'
  const usage = { input_tokens: 20, output_tokens: 4160, total_tokens: 4180 }
  const image = { type: 'image_generation.completed', b64_json: 'AA', usage }
  const ofImages = (images: object[], end: 'none' | 'break' = 'none'): Behaviour => {
    const answer = sse(images, end)
    return (reply, request) => {
      billed += images.length * (20 * PRICES.input + 4160 * PRICES.output)
      return answer(reply, request)
    }
  }
  const counts = async (behaviour: Behaviour) => {
    upstream.on(path, behaviour)
    const { send, counted } = await newKey(2)
    const body = { model: 'agent', prompt: 'Two cats', n: 2, stream: true }
    await (await send(path, JSON.stringify(body))).text().catch(() => '')
    return counted()
  }

  const failed = { type: 'error', error: { code: 'moderation_blocked', message: 'Not this one.' } }

  it('costs the images that came where all did, or the provider says why one did not', async () => {
    for (const end of ['none', 'break'] as const) assert.equal(await counts(ofImages([image, image], end)), billed)
    assert.equal(await counts(sse([image, failed], 'none')), 20 * PRICES.input + 4160 * PRICES.output)
  })

  it('costs its reservation where images may be missing, or one does not tell its usage', async () => {
    const { usage: _, ...untold } = image
    for (const [what, behaviour] of Object.entries({
      'breaks off': ofImages([image], 'break'),
      'ends early': ofImages([image]),
      'is ended here after an error': sse([image, failed], 'hang'),
      'breaks off after an error': sse([image, failed], 'break'),
      'has an image without usage': ofImages([image, untold]),
      'has images without usage, and breaks off': ofImages([untold, untold], 'break'),
    })) {
      const counted = await counts(behaviour)
      assert.ok(counted > 2 * (20 * PRICES.input + 4160 * PRICES.output), `${what}: ${counted}`)
    }
  })
})

/** Bill of an answer in the background, which has its usage once it is complete. */
const READ_MICROS = 300_000 * PRICES.input + 500 * PRICES.output
const COMPLETED = { ...response('Found.'), id: 'resp_1', usage: { input_tokens: 300_000, output_tokens: 500 } }

describe('an answer in the background', () => {
  const body = JSON.stringify({
    model: 'agent',
    input: 'Search for a day.',
    background: true,
    max_output_tokens: 500,
    tools: [{ type: 'web_search' }],
  })

  /** Answers later, once it has been asked for twice. */
  function works(answer: object, micros: number): void {
    upstream.on('/responses', tells({ ...QUEUED, id: 'resp_1' }, micros))
    const [later, done] = [json(200, { ...QUEUED, id: 'resp_1', status: 'in_progress' }), json(200, answer)]
    let asked = 0
    upstream.on('/responses/resp_1', (reply, request) => (++asked < 3 ? later : done)(reply, request))
  }

  it('costs what it has read beyond its reservation, though its client never asks for it', async () => {
    works(COMPLETED, READ_MICROS)
    const { send, spent, id } = await newKey(2)
    assert.equal((await send('/responses', body)).status, 200)
    assert.ok((await spent()) < READ_MICROS, 'its reservation, at first')
    await until(async () => (await spent()) === billed, { seconds: 20 })
    const { items } = await running.gateway.calls.history({ caller_id: id, limit: 5 })
    const [later] = items
    assert.deepEqual([later?.path, later?.upstream_cost_usd], ['/v1/responses/{id}', READ_MICROS / 1e6])
    assert.deepEqual(later?.usage?.prompt_tokens, 300_000)
  })

  it('is borne by the operator beyond that for a customer, in its budgets and on the statement', async () => {
    works(COMPLETED, READ_MICROS)
    const { send, spent, id } = await newKey(2, 'cost')
    assert.equal((await send('/responses', body)).status, 200)
    await until(async () => (await spent()) === billed, { seconds: 20 })
    const { available_usd: left } = await running.gateway.wallet.balances(id)
    const month = new Date().toISOString().slice(0, 7)
    const reply = await ask(running, 'GET', `/api/wallet/statements?period=${month}&caller_id=${id}`, {
      key: running.admin,
    })
    const { absorbed_usd: borne } = ((await reply.json()) as { totals: { absorbed_usd: number } }).totals
    assert.equal(Math.round((borne - left) * 1e6), billed)
    assert.ok(borne > 0.5 && left < 0, `${borne} borne, ${left} left`)
  })

  it('is counted though the provider has stored it only after its reply', async () => {
    works(COMPLETED, READ_MICROS)
    const replies = [404, 404, 409].map((status) => json(status, { error: { message: 'Not yet.' } }))
    upstream.on('/responses/resp_1', (reply, request) => (replies.shift() ?? json(200, COMPLETED))(reply, request))
    const { send, spent } = await newKey(2)
    await send('/responses', body)
    await until(async () => (await spent()) === billed, { seconds: 20 })
  })

  it('is counted before its client deletes it', async () => {
    works(COMPLETED, READ_MICROS)
    let answer: object = { ...QUEUED, id: 'resp_1', status: 'in_progress' }
    let deletions = 0
    upstream.on('/responses/resp_1', (reply, request) => {
      if (request.method === 'DELETE') deletions++
      return json(deletions === 0 ? 200 : 404, answer)(reply, request)
    })
    const { send, counted } = await newKey(2)
    await send('/responses', body)
    const early = await send('/responses/resp_1', null, 'DELETE')
    const { error } = (await early.json()) as { error: { code: string } }
    assert.deepEqual([early.status, error.code, deletions], [409, 'conflict', 0])
    answer = COMPLETED
    await send('/responses/resp_1', null, 'DELETE')
    assert.equal(deletions, 1)
    assert.equal(await counted(), billed)
  })

  it('is counted though the provider does not have it for a moment while its client deletes it', async () => {
    works(COMPLETED, READ_MICROS)
    const working = json(200, { ...QUEUED, id: 'resp_1', status: 'in_progress' })
    const missing = json(404, { error: { message: 'No such response.' } })
    const replies = [missing, missing, working, missing, missing]
    upstream.on('/responses/resp_1', (reply, request) => (replies.shift() ?? json(200, COMPLETED))(reply, request))
    const { send, spent } = await newKey(2)
    await send('/responses', body)
    while (replies.length > 0) assert.equal((await send('/responses/resp_1', null, 'DELETE')).status, 409)
    await until(async () => (await spent()) === billed, { seconds: 20 })
  })

  it('holds nothing of its request meanwhile', async () => {
    works({ ...QUEUED, id: 'resp_1', status: 'cancelled' }, 0)
    let answer: object = { ...QUEUED, id: 'resp_1', status: 'in_progress' }
    upstream.on('/responses/resp_1', (reply, request) => json(200, answer)(reply, request))
    const { send, counted } = await newKey(50)
    const image_url = `data:image/png;base64,${'A'.repeat(4_000_000)}`
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url }] }]
    const large = JSON.stringify({ model: 'agent', input, background: true, max_output_tokens: 500 })
    const begin = async () => assert.match(await (await send('/responses', large)).text(), /"queued"/)
    await begin()
    const before = await heldBytes()
    for (let times = 0; times < 8; times++) await begin()
    // Connections and records let go of the last ones a little later.
    await until(async () => (await heldBytes()) - before < 4 * large.length)
    answer = { ...QUEUED, id: 'resp_1', status: 'cancelled' }
    await counted()
  })

  it('has a receipt of nothing more for a customer where it has cost less than its reservation', async () => {
    works({ ...COMPLETED, usage: { input_tokens: 10, output_tokens: 5 } }, 0)
    const { send, counted, id } = await newKey(2, 'cost')
    // Receipts are compared with records from the first one on.
    await send('/chat/completions', JSON.stringify({ model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }))
    await send('/responses', body)
    const receipts = async () => (await running.gateway.wallet.usage({ caller_id: id, limit: 5 })).items
    await until(async () => (await receipts()).length === 3, { seconds: 20 })
    await counted()
    const later = (await receipts()).find(({ path }) => path === '/v1/responses/{id}')
    assert.deepEqual([later?.billing.total_usd, later?.billing.upstream_cost_usd], [0, 0])
    const { records } = await countUnmatched(running.gateway.store, { from: '2000', before: '2100' })
    assert.equal(records, 0)
  })

  it('costs its reservation where it has cost less, or is cancelled', async () => {
    const cheap = { ...COMPLETED, usage: { input_tokens: 10, output_tokens: 5 } }
    for (const answer of [cheap, { ...QUEUED, id: 'resp_1', status: 'cancelled' }]) {
      works(answer, 0)
      const { send, spent, counted } = await newKey(2)
      await send('/responses', body)
      const reserved = await spent()
      assert.ok(reserved > 0)
      const asks = () => upstream.received.filter(({ path }) => path.endsWith('/responses/resp_1')).length
      const before = asks()
      await until(async () => asks() >= before + 3, { seconds: 20 })
      assert.equal(await counted(), reserved)
    }
  })
})

/** Usage in the provider's answer of 700 tokens, and its bill. */
const TOLD = { prompt_tokens: 40, completion_tokens: 700, total_tokens: 740 }
const TOLD_MICROS = 40 * PRICES.input + 700 * PRICES.output
const [ROLE, WORD, STOP] = chunks(['Hi'], null) as [object, object, object]
/** A stream that tells its usage in an unusual place. The client has asked for none. */
const streams =
  (events: object[], afterDone: object[] = []): Behaviour =>
  async (reply) => {
    billed += TOLD_MICROS
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) reply.write(`data: ${JSON.stringify(event)}\n\n`)
    reply.write('data: [DONE]\n\n')
    await delay(afterDone.length * 50)
    for (const event of afterDone) reply.write(`data: ${JSON.stringify(event)}\n\n`)
    reply.end()
  }
/** Bills the prompt, and what the model may have thought meanwhile, and does not say a word of it. */
const silently =
  (behaviour: Behaviour, thoughtTokens = 0): Behaviour =>
  (reply, request) => {
    billed += (request.bytes.length / BYTES_PER_TOKEN) * 0.8 * PRICES.input + thoughtTokens * PRICES.output
    return behaviour(reply, request)
  }

/** Refuses a field, and answers without it: the provider bills both. */
const refusesFirst: Behaviour = (reply, request) => {
  const isRefused = 'temperature' in (request.body as object)
  const refusal = { error: { message: "Unsupported parameter: 'temperature'.", param: 'temperature' }, usage: TOLD }
  return tells(isRefused ? refusal : completion('Hi', TOLD), TOLD_MICROS, isRefused ? 400 : 200)(reply, request)
}

/** Answers with their usage at the end, in an unusual field, or nowhere. */
const UNTOLD: Array<[what: string, body: object, reply: Behaviour, of: 'told' | 'estimated']> = [
  ['usage after [DONE]', { stream: true }, streams([ROLE, WORD, STOP], [{ choices: [], usage: TOLD }]), 'told'],
  ['usage in x_groq alone', { stream: true }, streams([ROLE, WORD, { ...STOP, x_groq: { usage: TOLD } }]), 'told'],
  [
    'usage in a choice alone',
    { stream: true },
    streams([ROLE, WORD, { choices: [{ delta: {}, finish_reason: 'stop', usage: TOLD }] }]),
    'told',
  ],
  ['a refusal with usage', {}, tells({ error: { message: 'No.' }, usage: TOLD }, TOLD_MICROS, 400), 'told'],
  ['a refusal with usage of a request that is mended', { temperature: 0.2 }, refusesFirst, 'told'],
  ['an error with usage', {}, tells({ error: { message: 'Died.' }, usage: TOLD }, TOLD_MICROS, 500), 'told'],
  ['an answer that does not come in time', { model: 'slow/agent' }, silently(() => {}, 100), 'estimated'],
  ['a connection that is closed before a byte', {}, silently((reply) => void reply.socket?.destroy()), 'estimated'],
  ['a stream that breaks before its first word', { stream: true }, silently(sse([ROLE], 'break')), 'estimated'],
  ['a reply that cannot be read', {}, silently((reply) => void reply.writeHead(200).end('<html>')), 'estimated'],
]

it('is counted where a provider tells it late, elsewhere, or not at all, and no customer pays estimates', async () => {
  const content = 'Say hello, as often as you like. '.repeat(60)
  const checks: Array<() => Promise<void>> = []
  for (const [what, body, reply, of] of UNTOLD) {
    upstream.on('/chat/completions', reply)
    const ask = JSON.stringify({ model: 'agent', messages: [{ role: 'user', content }], max_tokens: 1000, ...body })
    const [key, customer] = [await newKey(2), await newKey(2, 'cost')]
    await (await key.send('/chat/completions', ask)).text()
    const each = billed
    const { status } = await customer.send('/chat/completions', ask)
    checks.push(async () => {
      const micros = await key.counted()
      assert.ok(of === 'told' ? micros === each : micros >= each && micros < 2_000_000, `${what}: ${micros} of ${each}`)
      assert.ok((await customer.counted()) >= each, `${what}: counted for the customer`)
      const { items } = await running.gateway.calls.history({ limit: 1, caller_id: customer.id })
      assert.equal(items[0]?.usage?.estimated ?? false, of === 'estimated', what)
      const { available_usd: left } = await running.gateway.wallet.balances(customer.id)
      const isPaid = status === 200 && of === 'told'
      assert.equal(Math.round(left * 1e6), isPaid ? -TOLD_MICROS : 0, `${what}: paid by the customer`)
    })
  }
  await Promise.all(checks.map((check) => check()))
  upstream.on('/chat/completions', provider)
})

it('costs nothing where the provider never had the request, or reports an error', async () => {
  const nobody = [json(503, { error: { message: 'Later.' } }), sse([{ error: { message: 'Overloaded.' } }])]
  for (const reply of nobody) {
    upstream.on('/chat/completions', reply)
    const { ask, counted } = await budgeted(1)
    await ask({ messages: [{ role: 'user', content: 'Hi' }], stream: true })
    assert.equal(await counted(), 0)
  }
  upstream.on('/chat/completions', provider)
  const { ask, counted } = await budgeted(1)
  await ask({ model: 'gone/agent', messages: [{ role: 'user', content: 'Hi' }] })
  assert.equal(await counted(), 0)
})

it('lets ten agents on 20 USD work without a refusal before 15 USD, and spend 19.50', async () => {
  generates = (turn) => 300 + ((turn * 7919) % 1700)
  const { ask, counted } = await budgeted(20)
  let spentAtRefusal = Number.POSITIVE_INFINITY

  /** Works as an agent does: each turn sends all that came before, until a call is refused. */
  async function work(agent: number): Promise<void> {
    const step = 'const parcels = await track(parcel, { retries: 3 }) // and more of the file that was read\n'
    for (let turn = 0; ; turn++) {
      const content = `agent ${agent}\n${step.repeat(400 + (turn % 20) * 40)}`
      const { status, text } = await ask({ messages: [{ role: 'user', content }], stream: true })
      if (status === 200) continue
      assert.equal(status, 402, text)
      spentAtRefusal = Math.min(spentAtRefusal, billed)
      return
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, agent) => work(agent)))
  const spent = await counted()
  assert.equal(spent, billed)
  assert.ok(spentAtRefusal >= 15_000_000, `refused at ${spentAtRefusal}`)
  assert.ok(spent >= 19_500_000 && spent <= 20_000_000, `${spent} spent`)
})
