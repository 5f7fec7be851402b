import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, openGateway, QUESTION } from './http-gateway.ts'

const { server, sentBody, request } = await openGateway()

describe('models over HTTP', () => {
  it('lists the aliases of models that are there, then what the upstream lists, and gives one model', async () => {
    server.on('/models', double.json(200, { data: [{ id: 'a/b', object: 'model', created: 1, owned_by: 'double' }] }))
    const aliases = { mine: 'a/b', gone: 'retired' }
    const fresh = await startGateway(server.url, {}, { upstream: { aliases } })
    const get = (path: string, key = fresh.key) =>
      fetch(fresh.url + path, { headers: { authorization: `Bearer ${key}` } })
    const listed = async (key?: string) => {
      const list = (await (await get('/v1/models', key)).json()) as { object: string; data: Array<{ id: string }> }
      assert.equal(list.object, 'list')
      return list.data.map((model) => model.id)
    }
    assert.deepEqual(await listed(), ['mine', 'a/b'])
    const { keys } = fresh.gateway
    for (const [models, seen] of [
      [['a/*'], ['mine', 'a/b']],
      [['mine'], ['mine']],
      [['other'], []],
    ]) {
      const { key } = await keys.create({ name: String(models), scopes: ['inference'], models })
      assert.deepEqual(await listed(key), seen)
      assert.equal((await get('/v1/models/a/b', key)).status, seen?.includes('a/b') ? 200 : 404)
    }
    assert.equal(((await (await get('/v1/models/a/b')).json()) as { id: string }).id, 'a/b')
    assert.equal((await get('/v1/models/none')).status, 404)
    assert.equal(server.received.filter((entry) => entry.path === '/v1/models').length, 1, 'asked once a minute')
    assert.equal((await fresh.gateway.calls.history({ limit: 1 })).total, 0, 'a list is no call')
    await fresh.close()
  })

  it('describes models as far as it knows them, to the clients of both APIs', async (t) => {
    const told = {
      id: 'vendor/told',
      name: 'Vendor: Told',
      created: 1_700_000_000,
      context_length: 200_000,
      top_provider: { context_length: 128_000, max_completion_tokens: 32_000 },
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      supported_parameters: ['tools', 'temperature'],
    }
    server.on(
      '/models',
      double.json(200, { data: [told, { id: 'bare', created: 1.7e15, created_at: '2026-01-02T03:04:05Z' }] }),
    )
    const other = await double.startUpstream()
    t.after(() => other.close())
    const narrow = { ...told, id: 'told', top_provider: { context_length: 64_000 }, supported_parameters: ['tools'] }
    other.on('/models', double.json(200, { data: [narrow] }))
    const pricing = { models: { 'vendor/told': { input: 2.5, output: 10, cached_input: 0 } } }
    const upstreams = { other: { provider: other.url, api_keys: ['other-secret-key'] } }
    const routes = [{ model: 'either', to: ['default/vendor/told', 'other/told'] }]
    const fresh = await startGateway(server.url, {}, { upstream: { aliases: {} }, upstreams, routes, pricing })
    t.after(() => fresh.close())
    const models = new Map<string, object>()
    const openai = new OpenAI({ baseURL: `${fresh.url}/v1`, apiKey: fresh.key })
    for await (const { owned_by: _, ...model } of openai.models.list()) models.set(model.id, model)
    assert.deepEqual(models.get('vendor/told'), {
      id: 'vendor/told',
      object: 'model',
      created: 1_700_000_000,
      name: 'Vendor: Told',
      context_length: 128_000,
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      pricing: { prompt: '0.0000025', completion: '0.00001', input_cache_read: '0' },
      top_provider: { context_length: 128_000, max_completion_tokens: 32_000 },
      supported_parameters: ['tools', 'temperature'],
    })
    const codex = await fetch(`${fresh.url}/v1/models?client_version=0.171.0`, {
      headers: { authorization: `Bearer ${fresh.key}` },
    })
    const forCodex = ((await codex.json()) as { models: Record<string, unknown>[] }).models
    const entries = forCodex.map(
      ({ slug, display_name, context_window, input_modalities, supported_reasoning_levels }) => [
        ...[slug, display_name, context_window, input_modalities, supported_reasoning_levels],
      ],
    )
    assert.deepEqual(entries, [
      ['either', 'Vendor: Told', 64_000, ['text', 'image'], []],
      ['vendor/told', 'Vendor: Told', 128_000, ['text', 'image'], []],
      ['other/told', 'Vendor: Told', 64_000, ['text', 'image'], []],
    ])
    assert.ok(forCodex.every(({ base_instructions }) => String(base_instructions).length > 500))
    assert.deepEqual(models.get('bare'), { id: 'bare', object: 'model', created: 1_767_323_045, priced: false })
    assert.deepEqual(models.get('either'), {
      id: 'either',
      object: 'model',
      created: 0,
      priced: false,
      name: 'Vendor: Told',
      context_length: 64_000,
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      top_provider: { context_length: 64_000 },
      supported_parameters: ['tools'],
    })
    assert.deepEqual((await openai.models.retrieve('vendor/told')).id, 'vendor/told')

    const anthropic = new Anthropic({ baseURL: fresh.url, apiKey: fresh.key })
    const paged: object[] = []
    for await (const model of anthropic.models.list({ limit: 1 })) paged.push(model)
    assert.deepEqual(
      paged.map((model) => (model as { id: string }).id),
      [...models.keys()],
    )
    const { type, display_name, created_at, max_input_tokens, max_tokens } =
      await anthropic.models.retrieve('vendor/told')
    assert.deepEqual(
      [type, display_name, created_at, max_input_tokens, max_tokens],
      ['model', 'Vendor: Told', '2023-11-14T22:13:20.000Z', 128_000, 32_000],
    )
    const { data } = await anthropic.models.list({ before_id: 'bare', limit: 1 })
    assert.deepEqual(
      data.map(({ id }) => id),
      ['vendor/told'],
    )
  })

  it('tells a client without a key that it is there', async () => {
    const asked = [
      ['HEAD', '/', 200],
      ['HEAD', '/api/hello', 200],
      ['GET', '/api/hello', 200],
      ['GET', '/', 401],
    ] as const
    for (const [method, path, status] of asked)
      assert.equal((await request(path, { method, key: null })).status, status)
  })

  describe('any base URL', () => {
    /** A local server as LM Studio or Ollama are: it has what was installed, and no responses endpoint. */
    async function local(
      ids: string[],
      work: (
        ask: (path: string, body: object) => Promise<string>,
        recorded: () => Promise<CallRecord[]>,
      ) => Promise<void>,
    ) {
      server.on('/models', double.json(200, { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }))
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      server.on('/responses', double.fails(404))
      const fresh = await startGateway(server.url, {}, { upstream: { aliases: {} } })
      const headers = { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' }
      try {
        await work(
          async (path, body) => {
            const reply = await fetch(fresh.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
            assert.equal(reply.status, 200)
            return sentBody().model as string
          },
          async () => (await fresh.gateway.calls.history({ limit: 50 })).items,
        )
      } finally {
        await fresh.close()
      }
    }

    it('answers a chat that names no model, or one of our names, with the first model that can', () =>
      local(['text-embedding-nomic', 'qwen3:8b', 'llama3:latest'], async (ask) => {
        assert.equal(await ask('/v1/chat/completions', ASK), 'qwen3:8b')
        assert.equal(await ask('/v1/chat/completions', { ...ASK, model: 'llm-3-fast' }), 'qwen3:8b')
        assert.equal(await ask('/v1/chat/completions', { ...ASK, model: 'llama3:latest' }), 'llama3:latest')
        assert.equal(server.received.filter(({ path }) => path === '/v1/models').length, 1)
      }))

    it('records nothing of what is looked up for a chat', () =>
      local(['qwen3:8b'], async (ask, recorded) => {
        await ask('/v1/chat/completions', ASK)
        await until(async () => (await recorded()).length > 0)
        assert.deepEqual(
          (await recorded()).map(({ path, requested_model, model }) => [path, requested_model, model]),
          [['/v1/chat/completions', 'llm-3-fast', 'qwen3:8b']],
        )
      }))

    it("keeps the client's model where the responses endpoint fails and no alias is for the fallback", () =>
      local(['qwen3:8b', 'llama3:latest'], async (ask) => {
        assert.equal(await ask('/v1/responses', { ...QUESTION, model: 'llama3:latest' }), 'llama3:latest')
        assert.equal(await ask('/v1/responses', QUESTION), 'qwen3:8b')
      }))

    it('sends our own name where the upstream has it, or lists nothing', async () => {
      await local(['other', 'llm-3-fast'], async (ask) => {
        assert.equal(await ask('/v1/chat/completions', ASK), 'llm-3-fast')
      })
      await local([], async (ask) => assert.equal(await ask('/v1/chat/completions', ASK), 'llm-3-fast'))
    })
  })

  it('finds the calls of an alias', async () => {
    const fresh = await startGateway(server.url, {}, { upstream: { aliases: { mine: 'theirs' } } })
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    for (const model of ['mine', 'theirs', 'other'])
      await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, model }),
      })
    const { calls } = fresh.gateway
    await until(async () => (await calls.history({ limit: 50 })).total === 3)
    const { items, total } = await calls.history({ limit: 50, model: 'mine' })
    assert.deepEqual([items.map((call) => call.requested_model), total], [['theirs', 'mine'], 2])
    await fresh.close()
  })

  it("lists all models of an upstream that has many, also those beyond the tool's limit", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({ id: `vendor/${i}`, description: 'x'.repeat(800) }))
    server.on('/models', double.json(200, { data: many }))
    const fresh = await startGateway(server.url, {}, { upstream: { allowed_paths: ['/embeddings'] } })
    const headers = { authorization: `Bearer ${fresh.key}` }
    const list = (await (await fetch(`${fresh.url}/v1/models`, { headers })).json()) as { data: object[] }
    assert.equal(list.data.length, 3000)
    assert.equal((await fetch(`${fresh.url}/v1/models/vendor/2999`, { headers })).status, 200)
    await fresh.close()
  })
})
