import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, errorOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, running, post, records, sentBody } = await openGateway()

describe('POST /v1/chat/completions', () => {
  it('passes the request and the reply through', async () => {
    const answer = double.completion('Hello.')
    server.on('/chat/completions', double.json(200, answer, { 'x-ratelimit-remaining': '7', 'set-cookie': 'a=b' }))
    const asked = { ...ASK, model: 'llm-3-fast', seed: 7, provider_field: { a: [1] } }
    const reply = await post('/v1/chat/completions', asked, { 'x-request-id': 'mine', cookie: 'c=d' })
    assert.equal(reply.status, 200)
    assert.deepEqual(await reply.json(), answer)
    assert.equal(reply.headers.get('x-request-id'), 'mine')
    assert.equal(reply.headers.get('x-ratelimit-remaining'), '7')
    assert.equal(reply.headers.get('set-cookie'), null)
    assert.deepEqual(sentBody(), asked)
    const { headers } = server.received[0] ?? assert.fail()
    assert.equal(headers.authorization, 'Bearer upstream-secret-key')
    assert.equal(headers.cookie, undefined)
    assert.ok(!JSON.stringify(server.received).includes(running.key), 'the caller’s key stays here')
    const [record] = await records()
    assert.equal(record?.surface, 'http')
    assert.match(record?.caller_id ?? '', /^key_/)
    assert.deepEqual(record?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  })

  it('records the session that a client says, of a refused call too, and sends no header of it', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const agent = { 'user-agent': 'opencode/1.2.3', 'x-session-id': 's1', 'x-parent-session-id': 's0' }
    await post('/v1/chat/completions', ASK, agent)
    await post('/v1/chat/completions', ASK, { ...agent, authorization: 'Bearer gwk_none' })
    const said = (await records()).map(({ status, session_id, parent_id, kind, client, client_version }) => ({
      ...{ status, session_id, parent_id, kind, client, client_version },
    }))
    const session = { session_id: 's1', parent_id: 's0', kind: 'subagent', client: 'opencode', client_version: '1.2.3' }
    assert.deepEqual(said, [
      { status: 'refused', ...session },
      { status: 'ok', ...session },
    ])
    assert.equal(server.received[0]?.headers['x-session-id'], undefined)
  })

  it('asks the chat model where the model is null', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal((await post('/v1/chat/completions', { ...ASK, model: null })).status, 200)
    assert.equal(sentBody().model, 'llm-3-fast')
  })

  it('keeps the numbers that JavaScript cannot hold', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const text = `{"messages":${JSON.stringify(ASK.messages)},"provider_field":{"most":1e400}}`
    assert.equal((await post('/v1/chat/completions', text)).status, 200)
    assert.deepEqual(sentBody().provider_field, { most: Number.POSITIVE_INFINITY })
    assert.equal(sentBody().model, 'llm-3-fast')
  })

  it('takes the first of a header that came twice', async () => {
    server.on('/chat/completions', (response) => {
      const twice = (name: string, value: string) => [name, value, name, 'text/plain']
      const type = twice('content-type', 'application/json')
      response.writeHead(200, [...type, ...twice('x-ratelimit-remaining', '7')])
      response.end(JSON.stringify(double.completion('Hello.')))
    })
    const { headers } = await post('/v1/chat/completions', ASK)
    assert.deepEqual([headers.get('content-type'), headers.get('x-ratelimit-remaining')], ['application/json', '7'])
  })

  it('reads replies and refusals after a byte order mark', async () => {
    const marked =
      (status: number, body: object): double.Behaviour =>
      (response) =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(`\ufeff${JSON.stringify(body)}`)
    server.on('/chat/completions', marked(200, double.completion('Hello.')))
    server.on('/responses', marked(200, double.response('Found.')))
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      const reply = await post(path, { ...ASK, ...QUESTION })
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, null])
      await reply.json()
    }
    server.on('/responses', marked(400, { error: { message: 'no', param: 'temperature' } }))
    const answered = await post('/v1/responses', { ...QUESTION, temperature: 0.3 })
    assert.deepEqual([answered.status, sentBody().temperature], [200, undefined])
    server.on('/chat/completions', marked(400, { error: { message: 'no' } }))
    assert.equal((await errorOf(await post('/v1/chat/completions', ASK))).message, 'no')
  })

  it('bounds an answer by the name that the model knows', async () => {
    const fresh = await startGateway(server.url)
    server.on('/chat/completions', double.renamesLimit)
    for (const stream of [false, true]) {
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, max_tokens: 50, stream }),
      })
      assert.equal(reply.status, 200)
      assert.match(await reply.text(), /Hello\./)
    }
    await fresh.close()
    const bounds = server.received.map(({ body }) => body as Record<string, unknown>)
    assert.deepEqual(
      bounds.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]),
      [
        [50, undefined],
        [undefined, 50],
        [undefined, 50],
      ],
    )
  })

  it('leaves it to the upstream what a bound may be', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const odd = { max_tokens: -1, max_completion_tokens: 0, stream_options: { include_usage: null } }
    assert.equal((await post('/v1/chat/completions', { ...ASK, ...odd })).status, 200)
    const { max_tokens, max_completion_tokens } = (server.received[0]?.body ?? {}) as Record<string, unknown>
    assert.deepEqual([max_tokens, max_completion_tokens], [-1, 0])
    assert.equal((await post('/v1/chat/completions', { ...ASK, max_tokens: '5' })).status, 422)
  })

  it('sends each configured header once, however it is spelt', async () => {
    const sent: [string, string][][] = []
    const notes =
      (then: double.Behaviour): double.Behaviour =>
      (response, entry) => {
        const raw = response.req.rawHeaders
        sent.push(raw.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), raw[i + 1] ?? '']])))
        return then(response, entry)
      }
    server.on('/chat/completions', notes(double.json(200, double.completion('Hello.'))))
    server.on('/models', notes(double.json(200, { data: [] })))
    const headers = {
      'User-Agent': 'mine/1',
      Authorization: 'Basic of-another',
      'Content-Type': 'text/plain',
      'X-Org': 'o',
    }
    const fresh = await startGateway(null, {}, { upstream: { provider: server.url, headers } })
    const init = { headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' } }
    await fetch(`${fresh.url}/v1/chat/completions`, { ...init, method: 'POST', body: JSON.stringify(ASK) })
    await fetch(`${fresh.url}/v1/models`, init)
    await fresh.close()
    assert.equal(sent.length, 2)
    for (const pairs of sent) {
      const { authorization, 'user-agent': agent, 'x-org': org } = Object.fromEntries(pairs)
      assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, 'none twice')
      assert.deepEqual([authorization, agent, org], ['Bearer upstream-secret-key', 'mine/1', 'o'])
    }
  })
})
