import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import OpenAI from 'openai'
import { message, messageStream, named } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

type Item = Record<string, unknown>

const SUMMARY = 'The user looks for P-42. It is in Graz.'
const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
/** A conversation as Codex sends it. */
const conversation = [
  { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is P-42?' }] },
  { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'Graz' },
]
const next = { type: 'message', role: 'user', content: 'And P-43?' }

/** `chat/…` and `claude/…` have no responses endpoint; `native/…` has. */
const doubles = {
  chat: await double.startUpstream(),
  claude: await double.startUpstream(),
  native: await double.startUpstream(),
}
let running: RunningGateway
let openai: OpenAI

const bodyAt = (name: keyof typeof doubles) => doubles[name].received.at(-1)?.body as Item & { messages: Item[] }
const textOf = ({ content }: Item): string => (typeof content === 'string' ? content : JSON.stringify(content))
const asked = (model: string, input: Item[]) => ({ model, input, tools, store: false }) as never
const compacted = (model: string, input: Item[] = conversation) =>
  openai.responses.create(
    asked(model, [...input, { type: 'compaction_trigger' }]),
  ) as Promise<OpenAI.Responses.Response>

describe('A Responses conversation that is to be made shorter', () => {
  before(async () => {
    const { chat, claude, native } = doubles
    const api_keys = ['some-key-of-an-upstream']
    const upstreams = {
      claude: { base_url: claude.url, provider: 'anthropic', api_keys },
      native: { provider: native.url, api_keys },
      chat: { provider: chat.url, api_keys },
    }
    running = await startGateway(chat.url, {}, { upstreams })
    openai = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })
  })
  beforeEach(() => {
    const { chat, claude, native } = doubles
    for (const path of ['/responses', '/responses/compact'])
      for (const one of [chat, claude]) one.on(path, double.json(404, { error: { message: 'Not Found' } }))
    chat.on('/chat/completions', double.json(200, double.completion(SUMMARY)))
    claude.on('/messages', double.json(200, message(SUMMARY)))
    native.on('/responses', double.json(200, double.response('Graz, too.')))
  })
  after(async () => {
    await running.close()
    for (const one of Object.values(doubles)) await one.close()
  })

  for (const model of ['chat/m', 'claude/m'] as const)
    it(`comes back from ${model} as one sealed item, streamed or not, which every upstream can read`, async () => {
      const name = model.startsWith('chat') ? 'chat' : 'claude'
      const whole = await compacted(model)
      assert.deepEqual([whole.status, whole.output_text, whole.usage?.output_tokens], ['completed', '', 5])
      assert.deepEqual(
        whole.output.map(({ type }) => type),
        ['compaction'],
      )
      const { messages, tools: offered, tool_choice } = bodyAt(name)
      assert.match(textOf(messages.at(-1) as Item), /Summarise this conversation/)
      assert.ok(offered, 'the tools stay, for the cache of the provider')
      assert.ok(JSON.stringify(tool_choice).includes('none'))

      doubles.chat.on('/chat/completions', double.sse(double.chunks(['The user looks for ', 'P-42.'])))
      doubles.claude.on('/messages', named(messageStream(['The user looks for ', 'P-42.'])))
      const events: OpenAI.Responses.ResponseStreamEvent[] = []
      const input = [...conversation, { type: 'compaction_trigger' }]
      const stream = await openai.responses.create({ model, input, tools, store: false, stream: true } as never)
      for await (const event of stream as unknown as AsyncIterable<(typeof events)[0]>) events.push(event)
      assert.deepEqual(
        events.map(({ type }) => type),
        [
          ...['response.created', 'response.in_progress'],
          ...['response.output_item.added', 'response.output_item.done', 'response.completed'],
        ],
      )
      assert.deepEqual(
        events.map(({ sequence_number }) => sequence_number),
        [0, 1, 2, 3, 4],
      )

      const [item] = whole.output as unknown as Item[]
      doubles.chat.on('/chat/completions', double.json(200, double.completion('Linz.')))
      doubles.claude.on('/messages', double.json(200, message('Linz.')))
      for (const to of ['chat', 'claude', 'native'] as const) {
        await openai.responses.create(asked(`${to}/other`, [conversation[1] as Item, item as Item, next]))
        const sent = JSON.stringify(bodyAt(to))
        assert.ok(sent.includes(SUMMARY) && sent.includes('And P-43?') && !sent.includes('gws1.'), to)
      }
    })

  it('is refused where its summary was made for another key, or changed', async () => {
    const [item] = (await compacted('chat/m')).output as unknown as Item[]
    const { key } = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    const other = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: key, maxRetries: 0 })
    const forged = { ...item, encrypted_content: `${String(item?.encrypted_content).slice(0, -8)}AAAAAAAA` }
    for (const [to, by, given] of [
      ['chat/m', other, item],
      ['claude/m', other, item],
      ['native/m', other, item],
      ['chat/m', openai, forged],
    ] as const)
      await assert.rejects(by.responses.create(asked(to, [given as Item, next])), (error) => {
        assert.ok(error instanceof OpenAI.APIError)
        assert.deepEqual([error.status, error.param], [400, 'input.0.encrypted_content'])
        return true
      })
  })

  it('fails where the summary is empty or was cut off', async () => {
    const cut = double.completion(SUMMARY)
    for (const answer of [
      double.completion(''),
      { ...cut, choices: cut.choices.map((choice) => ({ ...choice, finish_reason: 'length' })) },
    ]) {
      doubles.chat.on('/chat/completions', double.json(200, answer))
      await assert.rejects(compacted('chat/m'), /summary of the conversation (?:is empty|was cut off)/)
    }
    doubles.chat.on('/chat/completions', double.sse(double.chunks([''])))
    const stream = await openai.responses.create({
      ...{ model: 'chat/m', input: [...conversation, { type: 'compaction_trigger' }], stream: true },
    } as never)
    let last = ''
    await assert.rejects(async () => {
      for await (const { type } of stream as unknown as AsyncIterable<{ type: string }>) last = type
    }, /summary of the conversation is empty/)
    assert.notEqual(last, 'response.completed')
  })

  it('comes from POST /v1/responses/compact with the messages of the user, also of an answer that is kept', async () => {
    for (const model of ['chat/m', 'claude/m']) {
      const made = await openai.responses.compact({ model, input: conversation as never })
      assert.deepEqual([made.object, made.usage.output_tokens], ['response.compaction', 5])
      assert.deepEqual(
        made.output.map(({ type }) => type),
        ['message', 'compaction'],
      )
      assert.deepEqual(made.output[0], conversation[1])
    }
    const first = await openai.responses.create({ model: 'chat/m', input: 'Where is P-42?' })
    const made = await openai.responses.compact({ model: 'chat/m', previous_response_id: first.id })
    assert.deepEqual(
      made.output.map(({ type }) => type),
      ['message', 'compaction'],
    )
    assert.deepEqual(made.output[0], { type: 'message', role: 'user', content: 'Where is P-42?' })
    assert.ok(bodyAt('chat').messages.some((one) => textOf(one) === 'Where is P-42?'))

    doubles.native.on('/responses/compact', double.json(200, { object: 'response.compaction', output: [] }))
    await openai.responses.compact({ model: 'native/m', input: conversation as never })
    assert.deepEqual(bodyAt('native'), { model: 'm', input: conversation }, 'as it is, where the upstream has it')
    doubles.native.on('/responses/compact', double.json(404, { error: { message: 'The model m does not exist' } }))
    await assert.rejects(openai.responses.compact({ model: 'native/m', input: 'Hi' }), /does not exist/)
  })

  it('is refused for an item that is no object, and for an input that is no list, and asks nobody', async () => {
    const post = async (path: string, input: unknown, more: object = {}) => {
      const reply = await fetch(`${running.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'chat/m', input, ...more }),
      })
      const { error } = (await reply.json()) as { error?: { param: string } }
      return [Math.floor(reply.status / 100), error?.param]
    }
    const { id } = await openai.responses.create({ model: 'chat/m', input: 'Where is P-42?' })
    doubles.chat.received.length = 0
    const asksChat = () => doubles.chat.received.filter(({ path }) => path === '/chat/completions').length
    assert.deepEqual(await post('/responses', ['lost', next, { type: 'compaction_trigger' }]), [4, 'input.0'])
    assert.deepEqual(await post('/responses/compact', ['lost', next]), [4, 'input.0'])
    assert.deepEqual(await post('/responses/compact', { lost: true }), [4, 'input'])
    const [status, param] = await post('/responses', ['lost', next], { previous_response_id: id })
    assert.deepEqual([status, String(param).split('.')[0]], [4, 'input'])
    assert.deepEqual(await post('/responses', { lost: true }, { previous_response_id: id }), [4, 'input'])
    assert.equal(asksChat(), 0)
  })

  it('takes the place of its conversation where the next request continues it by its id', async () => {
    const input = [...conversation, { type: 'compaction_trigger' }]
    const { id } = await openai.responses.create({ model: 'chat/m', input, tools } as never)
    doubles.chat.on('/chat/completions', double.json(200, double.completion('Linz.')))
    const asked = { model: 'chat/m', previous_response_id: id, input: 'And P-43?' }
    assert.equal((await openai.responses.create(asked)).output_text, 'Linz.')
    const said = bodyAt('chat').messages.map(textOf)
    assert.deepEqual([said[0], said[2]], ['Where is P-42?', 'And P-43?'])
    assert.ok(said[1]?.endsWith(SUMMARY) && said.length === 3)
  })

  it('comes from chat completions where the responses endpoint fails', async () => {
    doubles.native.on('/responses', double.fails(500))
    doubles.native.on('/chat/completions', double.json(200, double.completion(SUMMARY)))
    const { output } = await compacted('native/m')
    assert.deepEqual(
      output.map(({ type }) => type),
      ['compaction'],
    )
  })

  it('costs what its upstream says, and nothing is asked beyond a budget', async (t) => {
    const limits = { budgets: [{ usd: 0.1, per: 'day' as const }] }
    const { key } = await running.gateway.keys.create({ name: 'poor', scopes: ['inference'], limits })
    const poor = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: key, maxRetries: 0 })
    const asks = (said: string) =>
      poor.responses.compact({ model: 'claude/claude-haiku-4-5', input: [{ role: 'user', content: said }] })
    const tokens: (number | undefined)[] = []
    t.after(running.gateway.calls.listen(({ usage }) => tokens.push(usage?.completion_tokens)))
    await asks('Hi.')
    assert.deepEqual(tokens, [5])
    const before = doubles.claude.received.length
    const isRefused = (error: unknown) => error instanceof OpenAI.APIError && error.status === 402
    await assert.rejects(asks('long '.repeat(100_000)), isRefused)
    assert.equal(doubles.claude.received.length, before)
  })

  it('costs a customer nothing where it does not come', async () => {
    const { chat, native } = doubles
    const trigger = { input: [...conversation, { type: 'compaction_trigger' }] }
    native.on('/responses/compact', double.json(404, { error: { message: 'Not Found' } }))
    native.on('/chat/completions', double.fails(500))
    for (const [path, body, reply] of [
      ['/responses', { ...trigger, model: 'native/m' }, null],
      ['/responses/compact', { input: conversation, model: 'native/m' }, null],
      ['/responses', { ...trigger, model: 'chat/m', stream: true }, double.sse(double.chunks(['']))],
      ['/responses', { ...trigger, model: 'chat/m', stream: true }, double.sse(double.chunks(['Half']), 'break')],
    ] as const) {
      if (reply !== null) chat.on('/chat/completions', reply)
      const { key, record } = await running.gateway.keys.create({ name: 'c', scopes: ['inference'], billing: 'cost' })
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      const asked = { method: 'POST', headers, body: JSON.stringify(body) }
      const text = await (await fetch(`${running.url}/v1${path}`, asked)).text()
      assert.match(text, /"(?:error|response\.failed)"/)
      const receipts = await until(async () => {
        const { items } = await running.gateway.wallet.usage({ caller_id: record.id, limit: 10 })
        return items.length > 0 && items
      })
      const paid = receipts.map(({ charged, billing }) => [charged, billing.total_usd])
      assert.deepEqual(paid, [[false, 0]], `${path}: ${text}`)
    }
  })
})
