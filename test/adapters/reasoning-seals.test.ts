import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { claudeLike, DELIVERED, deepSeekLike, geminiLike, THOUGHT } from '../doubles/thinking.ts'
import { json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

type Fields = Record<string, unknown>

const tools = [{ name: 'parcel_status', input_schema: { type: 'object', properties: {} } }]
const question = { role: 'user', content: 'Where is P-42?' }

let upstream: UpstreamDouble
let running: RunningGateway

/** Two upstreams on one double: `think/...` speaks chat completions and thinks, `claude/...` speaks Messages. */
before(async () => {
  upstream = await startUpstream()
  upstream.on('/chat/completions', deepSeekLike().behaviour)
  upstream.on('/messages', json(200, message('Hi.')))
  upstream.on('/messages/count_tokens', json(200, { input_tokens: 7 }))
  upstream.on('/responses', json(200, response('Hi.')))
  const at = { provider: upstream.url, api_keys: ['some-key-of-an-upstream'] }
  running = await startGateway(
    upstream.url,
    {},
    {
      upstreams: {
        think: at,
        other: { ...at, provider: `${upstream.url}/other` },
        claude: { ...at, protocol: 'anthropic' },
      },
    },
  )
})
after(async () => {
  await running.close()
  await upstream.close()
})

async function post(path: string, body: object, key = running.key, url = running.url) {
  const reply = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  return { status: reply.status, changed: reply.headers.get('x-gazeway-changed'), body: (await reply.json()) as Fields }
}

const sent = () => upstream.received.at(-1)?.body as Fields
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

/** A Messages request that thinks, and calls a tool. */
const asked = { model: 'think/m', max_tokens: 500, tools, messages: [question] }

/** Its first turn: the thinking block and the call. */
async function firstTurn() {
  const { body } = await post('/messages', asked)
  const [thinking, use] = listOf(body.content)
  assert.ok(thinking && use)
  assert.deepEqual([thinking.type, thinking.thinking, use.type], ['thinking', THOUGHT, 'tool_use'])
  const result = { type: 'tool_result', tool_use_id: use.id, content: 'delivered' }
  const again = (block: Fields) => ({
    ...asked,
    messages: [question, { role: 'assistant', content: [block, use] }, { role: 'user', content: [result] }],
  })
  return { thinking, again }
}

describe('Reasoning that a client brings back', () => {
  it('reaches the model that it comes from, sealed on the way', async () => {
    const { thinking, again } = await firstTurn()
    assert.equal(String(thinking.signature).includes(THOUGHT), false)
    const { status, changed, body } = await post('/messages', again(thinking))
    assert.deepEqual([status, changed], [200, null])
    assert.equal(listOf(body.content).at(-1)?.text, DELIVERED)
    assert.equal(listOf(sent().messages)[1]?.reasoning_content, THOUGHT)
  })

  it('is the same to the model however often and where its key brings it back', async () => {
    const { thinking, again } = await firstTurn()
    const { messages } = again(thinking)
    const other = {
      ...again(thinking),
      messages: [{ ...question, content: 'Another question.' }, ...messages.slice(1)],
    }
    for (const request of [again(thinking), again(thinking), other]) {
      const { status, changed } = await post('/messages', request)
      assert.deepEqual([status, changed], [200, null])
      assert.equal(listOf(sent().messages)[1]?.reasoning_content, THOUGHT)
    }
  })

  it('is dropped and named where it is forged, truncated, or of another provider, upstream, key or model', async () => {
    const { thinking, again } = await firstTurn()
    const { signature } = thinking as { signature: string }
    const { key: other } = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    const wrong: [Fields, string?, string?][] = [
      [{ signature: `${signature.slice(0, -4)}AAAA` }],
      [{ signature: signature.slice(0, 60) }],
      [{ signature: 'EqQBCkgIBhABGAIiQL8fAnthropic+own/signature==' }],
      [{}, other],
      [{}, running.key, 'think/another'],
      [{}, running.key, 'other/m'],
    ]
    const answer = json(200, {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
    })
    upstream.on('/chat/completions', answer)
    upstream.on('/other/chat/completions', answer)
    for (const [over, key, model = asked.model] of wrong) {
      const { status, changed } = await post('/messages', { ...again({ ...thinking, ...over }), model }, key)
      assert.deepEqual([status, changed], [200, 'messages.1.content.0=dropped'], JSON.stringify(over))
      assert.equal(upstream.received.at(-1)?.text.includes('reasoning_content'), false)
    }
    upstream.on('/chat/completions', deepSeekLike().behaviour)
  })

  it('is found by the call where its signature is lost', async () => {
    const { thinking, again } = await firstTurn()
    const { status, changed } = await post('/messages', again({ ...thinking, signature: '' }))
    assert.deepEqual([status, changed], [200, null])
    assert.equal(listOf(sent().messages)[1]?.reasoning_content, THOUGHT)
  })

  it('is found by the call where its client brings none back, though a text of the request speaks of seals', async () => {
    const mentions = { ...question, content: 'What is "gws1.abc.def" in my log? And where is P-42?' }
    const { body } = await post('/messages', { ...asked, messages: [mentions] })
    const [, use] = listOf(body.content)
    const result = { type: 'tool_result', tool_use_id: use?.id, content: 'delivered' }
    const messages = [mentions, { role: 'assistant', content: [use] }, { role: 'user', content: [result] }]
    const { status, changed } = await post('/messages', { ...asked, messages })
    assert.deepEqual([status, changed], [200, null])
    assert.equal(listOf(sent().messages)[1]?.reasoning_content, THOUGHT)
  })

  it('is taken out before an upstream that speaks Messages refuses it, also where tokens are counted', async () => {
    const { thinking, again } = await firstTurn()
    const own = { type: 'thinking', thinking: 'Mine.', signature: 'EqQBCkgIBhABGAIi' }
    const request = { ...again(thinking), model: 'claude/m', thinking: { type: 'enabled', budget_tokens: 1024 } }
    const turn = request.messages[1] as Fields
    const text = { type: 'text', text: 'Before.' }
    const messages = [
      question,
      { role: 'assistant', content: [own, text] },
      question,
      turn,
      ...request.messages.slice(2),
    ]
    const { status, changed } = await post('/messages', { ...request, messages })
    assert.deepEqual([status, changed], [200, 'messages.3.content.0=dropped, thinking=dropped'])
    const { messages: passed, thinking: budget } = sent() as { messages: Fields[]; thinking?: object }
    assert.deepEqual([passed[1], budget], [messages[1], undefined])
    assert.deepEqual(
      listOf(passed[3]?.content).map(({ type }) => type),
      ['tool_use'],
    )
    const { model, messages: counted } = { ...request, messages }
    const count = await post('/messages/count_tokens', { model, messages: counted, tools })
    assert.deepEqual([count.status, count.body.input_tokens], [200, 7])
    assert.equal(upstream.received.at(-1)?.text.includes('gws1.'), false)
  })

  it('is taken out before an upstream that has /responses refuses it', async () => {
    const items = {
      model: 'think/m',
      tools: [{ type: 'function', name: 'parcel_status', parameters: {} }],
      store: false,
    }
    upstream.on('/responses', json(403, { error: { message: 'no such right' } }))
    const { body } = await post('/responses', { ...items, input: 'Where is P-42?' })
    const [reasoning] = listOf(body.output)
    assert.deepEqual([reasoning?.type, reasoning?.summary], ['reasoning', [{ type: 'summary_text', text: THOUGHT }]])
    upstream.on('/responses', json(200, response('Hi.')))
    const native = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABo' }
    const input = [question, native, ...listOf(body.output), question]
    const { status, changed } = await post('/responses', { ...items, input })
    assert.deepEqual([status, changed], [200, 'input.2=dropped'])
    const types = listOf(sent().input).map(({ type }) => type)
    assert.deepEqual(types, [undefined, 'reasoning', 'function_call', undefined])
    upstream.on('/responses/compact', json(200, { ...response('Hi.'), object: 'response.compaction' }))
    const compact = await post('/responses/compact', { model: 'think/m', input })
    assert.deepEqual([compact.status, compact.changed], [200, 'input.2=dropped'])
    assert.deepEqual(sent().input, [question, native, ...listOf(body.output).slice(1), question])
  })

  it('survives a change of the provider in the middle of a session, and back', async () => {
    for (const [model, like] of [
      ['think/m', deepSeekLike()],
      ['think/m', geminiLike()],
    ] as const) {
      upstream.on('/chat/completions', like.behaviour)
      upstream.on('/messages', claudeLike().behaviour)
      const messages: Fields[] = []
      for (const asks of [model, 'claude/m', model, 'claude/m']) {
        messages.push(question)
        for (let step = 0; step < 2; step++) {
          const thinking = { type: 'enabled', budget_tokens: 1024 }
          const { status, body } = await post('/messages', {
            ...asked,
            max_tokens: 2000,
            model: asks,
            thinking,
            messages,
          })
          assert.equal(status, 200, JSON.stringify(body))
          const content = listOf(body.content)
          messages.push({ role: 'assistant', content })
          const use = content.find(({ type }) => type === 'tool_use')
          if (use)
            messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'x' }] })
        }
        assert.equal(listOf(messages.at(-1)?.content).at(-1)?.text, DELIVERED)
      }
    }
    upstream.on('/chat/completions', deepSeekLike().behaviour)
    upstream.on('/messages', json(200, message('Hi.')))
  })

  it('is not asked for again of a model without tools, and hidden from a client that turned thinking off', async () => {
    const simple = { model: 'think/m', max_tokens: 500, messages: [question] }
    const shown = await post('/messages', simple)
    const content = listOf(shown.body.content)
    assert.deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'text'],
    )
    await post('/messages', { ...simple, messages: [question, { role: 'assistant', content }, question] })
    assert.equal(upstream.received.at(-1)?.text.includes('reasoning_content'), false)
    const hidden = await post('/messages', { ...simple, thinking: { type: 'disabled' } })
    assert.deepEqual(
      listOf(hidden.body.content).map(({ type }) => type),
      ['text'],
    )
  })
})

describe('The keys that seal reasoning', () => {
  it('open what they sealed after a rotation, until they are gone: it is then dropped and named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-seals-'))
    const at = { provider: upstream.url, api_keys: ['some-key-of-an-upstream'] }
    /** Runs with a gateway that has just started on the store. */
    async function started<T>(work: (gateway: RunningGateway) => Promise<T>): Promise<T> {
      const store = { GAZEWAY_STORE: `sqlite:${join(folder, 'gazeway.db')}` }
      const gateway = await startGateway(upstream.url, store, { upstreams: { think: at } })
      return work(gateway).finally(gateway.close)
    }
    const keyOf = ({ signature }: Fields) => String(signature).split('.')[1] ?? ''
    const month = { created_at: new Date(Date.now() - 31 * 24 * 3_600_000).toISOString() }
    const [key, thinking, again] = await started(async ({ key, url, gateway: { store } }) => {
      const [block = {}, use = {}] = listOf((await post('/messages', asked, key, url)).body.content)
      const result = { type: 'tool_result', tool_use_id: use.id, content: 'delivered' }
      const answer = { role: 'assistant', content: [block, use] }
      await store.db.updateTable('seal_keys').set(month).execute()
      return [key, block, { ...asked, messages: [question, answer, { role: 'user', content: [result] }] }]
    })
    await started(async ({ url, gateway: { store } }) => {
      const { status, changed } = await post('/messages', again, key, url)
      assert.deepEqual([status, changed], [200, null])
      assert.equal(listOf(sent().messages)[1]?.reasoning_content, THOUGHT)
      const [newer = {}] = listOf((await post('/messages', asked, key, url)).body.content)
      assert.notEqual(keyOf(newer), keyOf(thinking))
      await store.db.deleteFrom('seal_keys').where('id', '=', keyOf(thinking)).execute()
    })
    await started(async ({ url }) => {
      const { status, changed } = await post('/messages', again, key, url)
      // The provider wants reasoning with each call: it gets an empty one.
      const words = 'messages.1.content.0=dropped, messages.1.reasoning_content=added'
      assert.deepEqual([status, changed], [200, words])
      assert.equal(listOf(sent().messages)[1]?.reasoning_content, '')
    })
    rmSync(folder, { recursive: true })
  })
})
