import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ASK, eventsOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, post, records } = await openGateway()

describe('the usage of a chat', () => {
  for (const choices of [null, undefined])
    it(`treats a chunk with the choices ${choices} as a usage report`, async () => {
      const [usage, ...chunks] = double.chunks(['Hi.']).reverse()
      server.on('/chat/completions', double.sse([...chunks.reverse(), { ...usage, choices }]))
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      assert.ok(!text.includes('"usage"'), text)
      assert.equal((await records())[0]?.usage?.total_tokens, 15)
    })

  for (const wanted of [{ stream_options: { include_usage: true } }, { usage: { include: true } }])
    it(`passes the usage chunk on where it was asked for: ${JSON.stringify(wanted)}`, async () => {
      for (const reply of [double.sse(double.chunks(['Hi.'])), double.json(200, double.completion('Hi.'))]) {
        server.on('/chat/completions', reply)
        const text = await (await post('/v1/chat/completions', { ...ASK, stream: true, ...wanted })).text()
        assert.equal(eventsOf(text).at(-1).usage.total_tokens, 15)
      }
    })

  it('leaves the usage chunk out where usage is a word of another kind', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hi.'])))
    for (const usage of [null, 'include', { include: false }, { include: 'true' }, [true]]) {
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true, usage })).text()
      assert.equal(eventsOf(text).at(-1).usage, undefined)
    }
  })

  for (const status of [400, 422])
    it(`does not ask for the usage of a stream where that is refused with ${status}, and remembers it`, async () => {
      server.on('/responses', double.fails(403))
      server.on('/chat/completions', double.tellsNoUsage(double.sse(double.chunks(['Hi.'], null)), status))
      const model = `shy-${status}`
      const asked = async (path: string, body: object) => {
        const reply = await post(path, { ...ASK, ...QUESTION, stream: true, ...body })
        const chats = server.received.splice(0).filter(({ path }) => path.endsWith('/chat/completions')).length
        return [reply.status, (await reply.text()).includes('"Hi."'), chats]
      }
      assert.deepEqual(await asked('/v1/chat/completions', { model }), [200, true, 2])
      assert.deepEqual(await asked('/v1/chat/completions', { model }), [200, true, 1])
      await until(async () => (await records()).length === 2)
      const kept = (await records()).map(({ status, stream, usage }) => [status, stream, usage?.estimated])
      assert.deepEqual(kept, Array(2).fill(['ok', true, true]))
      const own = { model, stream_options: { include_usage: false } }
      assert.deepEqual(await asked('/v1/chat/completions', own), [status, false, 1], 'its client’s own field')
      const other = await asked('/v1/responses', {})
      assert.deepEqual(other, [200, true, status === 400 ? 2 : 1], 'its model is asked for usage once')
      await until(async () => (await records()).length === 5)
    })

  it('goes on asking for usage where a refusal names the field for another reason', async () => {
    const refused = double.json(422, { detail: [{ msg: 'Field required: user', input: { stream_options: {} } }] })
    server.on('/chat/completions', refused)
    for (const _ of ['once', 'again']) {
      server.received.length = 0
      const reply = await post('/v1/chat/completions', { ...ASK, stream: true, model: 'strict' })
      assert.equal(reply.status, 422)
      const asked = server.received.map(({ body }) => Object.hasOwn(body as object, 'stream_options'))
      assert.deepEqual(asked, [true, false])
    }
  })

  it('counts usage once where every chunk reports it beside its choices', async () => {
    const chunks = double.chunks(['a', 'b', 'c'], null).map((chunk, i) => ({
      ...chunk,
      usage: { prompt_tokens: 4, completion_tokens: i, total_tokens: 4 + i },
    }))
    server.on('/chat/completions', double.sse(chunks))
    const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    assert.equal(eventsOf(text).length, chunks.length, 'chunks with choices are passed on')
    assert.deepEqual((await records())[0]?.usage, { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 })
  })

  it('estimates usage that the upstream does not report, streaming and not', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.', null)))
    await post('/v1/chat/completions', ASK)
    server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'], null)))
    await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    await until(async () => (await records()).length === 2)
    for (const { usage } of await records()) {
      assert.equal(usage?.estimated, true)
      assert.ok((usage?.completion_tokens ?? 0) > 0)
    }
  })

  for (const field of ['reasoning_content', 'reasoning', 'refusal'])
    it(`estimates a stream by its ${field}, too`, async () => {
      const [role, , finish] = double.chunks(['4'], null)
      const thoughts = Array.from({ length: 100 }, () => ({
        ...role,
        choices: [{ index: 0, delta: { [field]: ' word' }, finish_reason: null }],
      }))
      for (const end of [[finish], []]) {
        server.on('/chat/completions', double.sse([role, ...thoughts, ...end], 'none'))
        await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      }
      await until(async () => (await records()).length === 2)
      for (const { usage } of await records())
        assert.deepEqual([usage?.estimated, usage?.completion_tokens], [true, 100])
    })

  for (const [path, answer] of [
    ['/chat/completions', double.completion('DEEP', null)],
    ['/responses', { ...double.response('DEEP'), usage: null }],
  ] as const)
    it(`records an answer on ${path} that is nested too deeply to be counted`, async () => {
      const deep = `${'{"0":'.repeat(100_000)}1${'}'.repeat(100_000)}`
      const text = JSON.stringify(answer).replace('"DEEP"', deep)
      server.on(path, (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text))
      const reply = await post(`/v1${path}`, { ...ASK, ...QUESTION })
      assert.deepEqual([reply.status, await reply.text()], [200, text])
      await until(async () => (await records()).length > 0)
      assert.deepEqual(
        (await records()).map(({ status, http_status, usage, error }) => [status, http_status, usage, error]),
        [['ok', 200, null, null]],
      )
    })
})
