import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'

const sandbox = createSandbox()
const ask = (path: string, init?: RequestInit) => sandbox.fetch(new Request(`http://sandbox.local${path}`, init))
const chat = (body: unknown, signal?: AbortSignal) =>
  ask('/v1/chat/completions', { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) })

const STREAMED = {
  model: 'm',
  stream: true,
  messages: [{ role: 'user', content: 'Which one? One is first. One is last.' }],
}

describe('the sandbox upstream', () => {
  it('lists its models, and knows each of them', async () => {
    const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string; object: string }[] }
    for (const id of [
      'llm-4.20-multi-agent-beta-0309',
      'llm-4.20-0309-reasoning',
      'llm-3-fast',
      'llm-4-1-fast-reasoning',
      'grok-3-fast',
    ]) {
      assert.ok(
        data.some((model) => model.id === id),
        id,
      )
      assert.equal((await ask(`/v1/models/${id}`)).status, 200)
    }
    assert.equal((await ask('/v1/models/none')).status, 404)
  })

  it('answers wherever its base URL is', async () => {
    assert.equal((await sandbox.fetch(new Request('http://127.0.0.1:9/proxy/v1/models'))).status, 200)
  })

  const schema = (root: object) => ({
    method: 'POST',
    body: JSON.stringify({
      model: 'm',
      input: 'x',
      text: { format: { type: 'json_schema', name: 'x', schema: root } },
    }),
  })

  const faults: [string, string, RequestInit, number, string][] = [
    ['an unknown path', '/v1/nowhere', {}, 404, 'not_found'],
    ['a path outside the version', '/models/v1', {}, 404, 'not_found'],
    ['a wrong method', '/v1/chat/completions', {}, 405, 'method_not_allowed'],
    ['a body that is not JSON', '/v1/chat/completions', { method: 'POST', body: '{"model":' }, 400, 'invalid_json'],
    ['an empty body', '/v1/responses', { method: 'POST' }, 400, 'invalid_json'],
    ['a schema that excludes itself', '/v1/responses', schema({ not: { $ref: '#' } }), 400, 'invalid_request'],
    [
      'a schema that nothing meets',
      '/v1/responses',
      schema({ type: 'integer', minimum: 2, maximum: 1 }),
      400,
      'invalid_request',
    ],
    [
      'a body that nests without end',
      '/v1/responses',
      { method: 'POST', body: `${'['.repeat(200_000)}${']'.repeat(200_000)}` },
      400,
      'invalid_request',
    ],
    ['a body that is not an object', '/v1/responses', { method: 'POST', body: '[]' }, 400, 'invalid_request'],
  ]
  for (const [what, path, init, status, code] of faults) {
    it(`answers ${what} with ${status} in OpenAI's error shape`, async () => {
      const reply = await ask(path, init)
      const { error } = (await reply.json()) as { error: Record<string, unknown> }
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('x-upstream'), 'sandbox')
      assert.equal(error.code, code)
      assert.deepEqual(
        ['message', 'type', 'param'].filter((key) => !(key in error)),
        [],
      )
    })
  }

  it('names the method to use', async () => {
    assert.equal((await ask('/v1/models', { method: 'DELETE' })).headers.get('allow'), 'GET')
  })

  it('streams frames that end with [DONE]', async () => {
    const reply = await chat(STREAMED)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
    const frames = (await reply.text()).split('\n\n')
    assert.deepEqual(frames.slice(-2), ['data: [DONE]', ''])
    assert.ok(frames.slice(0, -1).every((frame) => frame.startsWith('data: ')))
  })

  it('breaks off a stream with the reason of the abort, also while it is not being read', async () => {
    const controller = new AbortController()
    const reader = (await chat(STREAMED, controller.signal)).body?.getReader()
    assert.ok(reader)
    assert.equal((await reader.read()).done, false)
    controller.abort(new Error('the caller left'))
    await assert.rejects(reader.read(), /the caller left/)
  })

  it('rejects a request that is aborted before it begins', async () => {
    await assert.rejects(chat(STREAMED, AbortSignal.abort()), { name: 'AbortError' })
  })

  it('lets a reader leave in the middle of a stream', async () => {
    const body = (await chat(STREAMED)).body
    const reader = body?.getReader()
    await reader?.read()
    await reader?.cancel()
    assert.equal((await reader?.read())?.done, true)
  })
})
