import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import OpenAI from 'openai'
import { liveKeptResponses } from '../../src/conversations/kept-responses.ts'
import { message } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const chat = await double.startUpstream()
const claude = await double.startUpstream()
after(async () => {
  await chat.close()
  await claude.close()
})

const client = (url: string, apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
function rolesAt({ received }: double.UpstreamDouble): string[] {
  const { body } = received.at(-1) as double.Received
  const { messages } = body as { messages: { role: string }[] }
  return messages.map(({ role }) => role)
}

describe('previous_response_id over upstreams that store nothing', () => {
  it('continues what the key asked, streamed or not, at any upstream, until it is deleted', async (t) => {
    const upstreams = { claude: { base_url: claude.url, provider: 'anthropic', api_keys: ['claude-secret-key'] } }
    const running = await startGateway(chat.url, {}, { upstream: { aliases: {} }, upstreams })
    t.after(running.close)
    chat.on('/responses', double.fails(404))
    claude.on('/messages', double.json(200, message('Hi.')))
    const openai = client(running.url, running.key)
    const fails = (status: number) => (error: unknown) => error instanceof OpenAI.APIError && error.status === status

    chat.on('/chat/completions', double.sse(double.chunks(['Hello.'])))
    const stream = await openai.responses.create({ model: 'm', input: 'One', stream: true })
    let first = ''
    for await (const event of stream) if (event.type === 'response.completed') first = event.response.id
    chat.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const second = await openai.responses.create({ model: 'm', input: 'Two', previous_response_id: first })
    assert.deepEqual(rolesAt(chat), ['user', 'assistant', 'user'])
    const third = await openai.responses.create({
      model: 'claude/x',
      input: 'Three',
      previous_response_id: second.id,
      max_output_tokens: 100,
      store: false,
    })
    assert.deepEqual(rolesAt(claude), ['user', 'assistant', 'user', 'assistant', 'user'])

    const ask = (previous_response_id: string, by = openai) =>
      by.responses.create({ model: 'm', input: 'Four', previous_response_id })
    const other = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    await assert.rejects(ask(first, client(running.url, other.key)), fails(404), "another key's")
    await assert.rejects(ask(third.id), fails(404), 'not to be stored')
    await openai.responses.delete(first)
    await assert.rejects(openai.responses.delete(first), fails(404))
    await assert.rejects(ask(first), fails(404), 'deleted')
    await ask(second.id)
  })
})

describe('a kept response', () => {
  it('lists the numbers of its input with all of their digits', async (t) => {
    const running = await startGateway(chat.url)
    t.after(running.close)
    chat.on('/responses', double.fails(404))
    chat.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const headers = { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' }
    const number = '12345678901234567890.5'
    const body = `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Hi","at":${number}}]}]}`
    const made = await fetch(`${running.url}/v1/responses`, { method: 'POST', headers, body })
    const { id } = (await made.json()) as { id: string }
    const listed = await fetch(`${running.url}/v1/responses/${id}/input_items`, { headers })
    assert.match(await listed.text(), new RegExp(`"at":${number}[,}]`))
  })

  it('is read, listed and deleted by the key that made it alone, as at OpenAI', async (t) => {
    const running = await startGateway(chat.url)
    t.after(running.close)
    chat.on('/responses', double.fails(404))
    chat.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const openai = client(running.url, running.key)
    const { key } = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    const other = client(running.url, key)
    const fails = (status: number) => (error: unknown) => error instanceof OpenAI.APIError && error.status === status

    const first = await openai.responses.create({ model: 'm', input: 'One' })
    const made = await openai.responses.create({
      ...{ model: 'm', instructions: 'Be brief.', previous_response_id: first.id, metadata: { a: 'b' } },
      input: [{ role: 'user', content: 'Two' }],
    })
    const read = await openai.responses.retrieve(made.id)
    assert.deepEqual(read, { ...made, store: true, previous_response_id: first.id })
    assert.equal(read.output_text, 'Hello.')

    const texts = async (options: OpenAI.Responses.InputItemListParams) => {
      const found: [string, string][] = []
      for await (const item of openai.responses.inputItems.list(made.id, options))
        if (item.type === 'message') found.push([item.role, JSON.stringify(item.content[0])])
      return found
    }
    const one = ['user', '{"type":"input_text","text":"One"}']
    const two = ['user', '{"type":"input_text","text":"Two"}']
    const all = await texts({ order: 'asc', limit: 1 })
    assert.deepEqual([all[0], all[1]?.[0], all[2], all.length], [one, 'assistant', two, 3])
    assert.deepEqual(
      (await texts({})).map(([, text]) => text),
      all.map(([, text]) => text).toReversed(),
    )

    const page = async (query: string) => {
      const headers = { authorization: `Bearer ${running.key}` }
      const reply = await fetch(`${running.url}/v1/responses/${made.id}/input_items?${query}`, { headers })
      const { data, has_more } = (await reply.json()) as { data: { id: string }[]; has_more: boolean }
      return { ids: data.map(({ id }) => id), has_more }
    }
    for (const order of ['asc', 'desc']) {
      const [a, b, c] = (await page(`order=${order}`)).ids
      const before = (id: string | undefined, more: string) => page(`order=${order}&before=${id}&${more}`)
      assert.deepEqual(await before(c, 'limit=1'), { ids: [b], has_more: true }, 'the page before it')
      assert.deepEqual(await before(c, ''), { ids: [a, b], has_more: false })
      assert.deepEqual(await before(c, `after=${a}`), { ids: [b], has_more: false })
      for (const id of [a, 'item_unknown']) assert.deepEqual(await before(id, ''), { ids: [], has_more: false })
    }

    for (const limit of [0, 101]) await assert.rejects(texts({ limit }), fails(400), 'at most 100, as at OpenAI')

    const asks = (by: OpenAI, id: string) => [
      () => by.responses.retrieve(id),
      () => by.responses.inputItems.list(id),
      () => by.responses.cancel(id),
      () => by.responses.delete(id),
    ]
    for (const ask of asks(other, made.id)) await assert.rejects(ask, fails(404))
    await assert.rejects(openai.responses.cancel(made.id), fails(400), 'not in the background')
    await assert.rejects(openai.responses.retrieve(made.id, { stream: true }), fails(400))
    const unkept = await openai.responses.create({ model: 'm', input: 'Three', store: false })
    for (const ask of asks(openai, unkept.id)) await assert.rejects(ask, fails(404))
    await openai.responses.delete(made.id)
    for (const ask of asks(openai, made.id)) await assert.rejects(ask, fails(404))
  })
})

describe('a request that continues a kept response', () => {
  const MIB = 1024 ** 2
  let running: RunningGateway
  before(async () => {
    const http = { max_model_body_bytes: 3 * MIB, max_buffered_bytes: 8 * MIB }
    running = await startGateway(chat.url, {}, { http })
    chat.on('/responses', double.fails(404))
  })
  beforeEach(() => chat.on('/chat/completions', double.json(200, double.completion('Hi.'))))
  after(() => running.close())

  async function ask(fields: string): Promise<{ status: number; json: { id: string; error: Record<string, string> } }> {
    const reply = await fetch(`${running.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
      body: `{"model":"m",${fields}}`,
    })
    return { status: reply.status, json: (await reply.json()) as never }
  }
  async function made(input: string): Promise<string> {
    const { status, json } = await ask(`"input":"${input}"`)
    assert.equal(status, 200)
    return json.id
  }
  /** Tells whether no body is held. */
  const isFree = async () => {
    try {
      running.gateway.buffered.requireRoom({ request: {}, callerId: 'another' }, 4 * MIB)
      return true
    } catch {
      return false
    }
  }

  it('counts the conversation among the bodies in memory while its call lasts, however it ends', async () => {
    const id = await made('x'.repeat(2.5 * MIB))
    const short = `"input":"x","previous_response_id":"${id}"`
    let answer = () => {}
    const arrived = new Promise<void>((resolve) => {
      chat.on('/chat/completions', async (response, entry) => {
        resolve()
        await new Promise<void>((done) => {
          answer = done
        })
        return double.json(200, double.completion('Hi.'))(response, entry)
      })
    })
    const first = ask(short)
    await arrived
    assert.equal(await isFree(), false)
    assert.equal((await ask(short)).status, 503, 'the same key again')
    answer()
    assert.equal((await first).status, 200)
    assert.deepEqual(rolesAt(chat), ['user', 'assistant', 'user'])
    await until(isFree)

    chat.on('/chat/completions', double.fails(400))
    assert.equal((await ask(short)).status, 400)
    await until(isFree)
    const { status, json } = await ask(`"input":"${'x'.repeat(MIB)}","previous_response_id":"${id}"`)
    assert.equal(status, 413)
    assert.match(json.error.message ?? '', /conversation that it continues.*max_model_body_bytes/)
    await until(isFree)
  })

  it('is refused with more items than a request may have, or nested too deeply', async () => {
    const id = await made('One')
    const items = Array.from({ length: 9_999 }, () => '{"role":"user","content":"x"}')
    const many = await ask(`"input":[${items}],"previous_response_id":"${id}"`)
    assert.deepEqual([many.status, many.json.error.param], [422, 'input'])
    const deep = `"metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const nested = await ask(`"input":"x","previous_response_id":"${id}",${deep}`)
    assert.deepEqual([nested.status, nested.json.error.code], [400, 'invalid_json'])
    await until(isFree)
  })

  it('is no answer to a request that would repeat it too deeply: the upstream is not asked', async () => {
    chat.received.length = 0
    const { status, json } = await ask(`"input":"x","metadata":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    assert.deepEqual([status, json.error.code], [400, 'invalid_json'])
    assert.deepEqual(
      chat.received.filter(({ path }) => path === '/v1/chat/completions'),
      [],
    )
  })

  it('keeps the numbers that JavaScript cannot represent, in the conversation, too', async () => {
    const output =
      '{"type":"function_call_output","call_id":"c","output":{"n":18446744073709551614,"e":0.12345678901234567890}}'
    const call = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}'
    const first = await ask(`"input":[{"role":"user","content":"Count"},${call},${output}]`)
    const second = await ask(`"input":"Go on","previous_response_id":"${first.json.id}"`)
    await ask(`"input":"Go on","previous_response_id":"${second.json.id}"`)
    const { text } = chat.received.at(-1) as double.Received
    assert.ok(text.includes('18446744073709551614') && text.includes('0.12345678901234567890'), text)

    const id = await made('One')
    const parameters = '{"type":"object","properties":{"n":{"type":"integer","maximum":18446744073709551615}}}'
    const tools = `"tools":[{"type":"function","name":"f","parameters":${parameters}}]`
    assert.equal((await ask(`"input":"x","previous_response_id":"${id}",${tools}`)).status, 200)
    assert.deepEqual(rolesAt(chat), ['user', 'assistant', 'user'])
    assert.match(chat.received.at(-1)?.text ?? '', /"maximum":18446744073709551615\b/)
  })

  it('finds the newest responses of a key, within its limits', async () => {
    const { store, config, log } = running.gateway
    let time = Date.now()
    const now = () => new Date(time++)
    const kept = liveKeptResponses({ store, config, log, now }, { responses: 2, bytes: 1_000 })
    const keptOf = async (owner: string) => {
      const ids = ['resp_gzw_1', 'resp_gzw_2', 'resp_gzw_3'].map((id) => `${id}${owner}`)
      const found = await Promise.all(ids.map((id) => kept.find(id, owner)))
      return found.map((conversation) => conversation !== null)
    }
    const one = async (items: object[]) => ({ items: JSON.stringify(items), response: '{}' })
    for (const number of [1, 2, 3]) await kept.keep(`resp_gzw_${number}few`, 'few', one([{ number }]))
    assert.deepEqual(await keptOf('few'), [false, true, true], 'number of responses')
    const large = [{ text: 'x'.repeat(600) }]
    for (const number of [1, 2, 3]) await kept.keep(`resp_gzw_${number}big`, 'big', one(large))
    assert.deepEqual(await keptOf('big'), [false, false, true], 'bytes')
    assert.deepEqual(await keptOf('few'), [false, true, true], "another key's")
    const conversation = await kept.find('resp_gzw_3big', 'big')
    assert.deepEqual(JSON.parse((await conversation?.read()) ?? ''), large)
  })
})
