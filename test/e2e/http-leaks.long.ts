import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, startGatewayProcess, startProvider, UPSTREAM_KEY } from './gateway-process.ts'
import { newPlace } from './server.ts'

/** Client headers that must not reach the upstream. */
const TELLING = {
  cookie: 'session=client-cookie',
  'x-api-key': 'client-secret',
  'openai-organization': 'client-organization',
  'x-forwarded-for': '203.0.113.7',
  'proxy-authorization': 'Basic client-proxy',
  connection: 'keep-alive, x-hop',
  'x-hop': 'client-hop',
  te: 'trailers',
  'x-anything': 'client-anything',
}
/** Upstream headers that must not reach the client. */
const TOLD = {
  'set-cookie': 'session=upstream-cookie',
  'openai-organization': 'upstream-organization',
  'x-internal-host': 'upstream-host',
  'www-authenticate': 'Bearer realm="upstream-realm"',
  authorization: `Bearer ${UPSTREAM_KEY}`,
  'keep-alive': 'timeout=4242',
  upgrade: 'upstream-upgrade',
  server: 'upstream-server',
  'x-request-id': 'upstream-request',
}
/** The headers that a request upstream is made of. */
const SENT = ['host', 'connection', 'authorization', 'content-type', 'user-agent', 'via', 'content-length']
const SENT_BY_THE_SDK = /^(accept|accept-\w+|x-stainless-[\w-]+|sec-fetch-mode|transfer-encoding)$/

const CHAT = { messages: [{ role: 'user', content: 'Say hello.' }] }

describe('what passes between a client and an upstream', () => {
  const place = newPlace()
  let upstream: double.UpstreamDouble
  let gateway: GatewayProcess
  before(async () => {
    upstream = await startProvider()
    gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url, '--log-level', 'debug'] })
  })
  beforeEach(() => {
    upstream.received.length = 0
  })
  after(async () => {
    await gateway.stop()
    await upstream.close()
    const kept = readFileSync(join(place.data, 'gazeway.db'), 'latin1')
    for (const secret of [UPSTREAM_KEY, gateway.key]) {
      assert.ok(!kept.includes(secret), 'the store keeps no key')
      assert.equal(gateway.stderr().split(secret).length - 1, secret === gateway.key ? 1 : 0, 'nor does the log')
    }
  })

  function send(path: string, body?: unknown): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { ...TELLING, authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      const sent = request(gateway.url + path, { method, headers }, async (reply) => {
        let text = ''
        for await (const chunk of reply) text += chunk
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  const requests: Record<string, () => ReturnType<typeof send>> = {
    'a chat': () => send('/v1/chat/completions', CHAT),
    'a streamed chat': () => send('/v1/chat/completions', { ...CHAT, stream: true }),
    'a response': () => send('/v1/responses', { input: 'Hello.' }),
    'a streamed response': () => send('/v1/responses', { input: 'Hello.', stream: true }),
    'the models': () => send('/v1/models'),
  }
  const endings: Record<string, () => void> = {
    answers: () => {
      upstream.on('/models', double.json(200, { data: [] }, TOLD))
      upstream.on('/chat/completions', (response, entry) => {
        const { stream } = entry.body as { stream?: boolean }
        if (stream) for (const [name, value] of Object.entries(TOLD)) response.setHeader(name, value)
        return (stream ? double.sse(double.chunks(['Hi.'])) : double.json(200, double.completion('Hi.'), TOLD))(
          response,
          entry,
        )
      })
      upstream.on('/responses', (response, entry) => {
        const { stream } = entry.body as { stream?: boolean }
        if (stream) for (const [name, value] of Object.entries(TOLD)) response.setHeader(name, value)
        return (stream ? double.sse(double.responseEvents(['Hi.'])) : double.json(200, double.response('Hi.'), TOLD))(
          response,
          entry,
        )
      })
    },
    'refuses its key, and repeats it': () => {
      const error = {
        message: `Incorrect API key provided: ${UPSTREAM_KEY}.`,
        type: 'x',
        code: UPSTREAM_KEY,
        param: null,
      }
      for (const path of ['/models', '/chat/completions', '/responses'])
        upstream.on(path, double.json(401, { error, authorization: UPSTREAM_KEY }, TOLD))
    },
    'fails in a stream, and repeats its key': () => {
      const error = { message: `Key ${UPSTREAM_KEY} has no credit.`, type: 'x', code: null, param: null }
      const [begun] = double.chunks(['Hi.'])
      upstream.on('/chat/completions', double.sse([begun, { error }]))
      const events = double.responseEvents(['Hi.']).slice(0, 4)
      upstream.on('/responses', double.sse([...events, { ...error, type: 'error', sequence_number: 4 }], 'none'))
    },
    'fails before its first output, and repeats its key': () => {
      const error = { message: `Key ${UPSTREAM_KEY} has no credit.`, code: 'x' }
      const [begun] = double.responseEvents(['Hi.'])
      const failed = { type: 'response.failed', response: { ...double.response(''), status: 'failed', error } }
      upstream.on('/responses', double.sse([begun, failed], 'none'))
      upstream.on('/chat/completions', double.sse([{ error }]))
    },
  }

  for (const [ending, prepare] of Object.entries(endings))
    for (const [name, ask] of Object.entries(requests))
      it(`is what it has to be when an upstream asked for ${name} ${ending}`, async () => {
        prepare()
        const { headers, text } = await ask()
        const said = JSON.stringify(headers) + text
        assert.ok(!said.includes(UPSTREAM_KEY), said)
        for (const value of Object.values(TOLD)) assert.ok(!said.includes(value), `${value} in ${said}`)
        assert.ok(upstream.received.length > 0 || name === 'the models')
        for (const entry of upstream.received) {
          const asked = JSON.stringify(entry)
          assert.ok(!asked.includes(gateway.key), asked)
          assert.ok(!/client-|203\.0/.test(asked), asked)
          const more = Object.keys(entry.headers).filter((sent) => !SENT.includes(sent) && !SENT_BY_THE_SDK.test(sent))
          assert.deepEqual(more, [])
          assert.equal(entry.headers.authorization, `Bearer ${UPSTREAM_KEY}`)
        }
      })
})
