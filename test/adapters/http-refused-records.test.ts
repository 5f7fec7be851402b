import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { ASK, openGateway, QUESTION } from './http-gateway.ts'

const { server, running } = await openGateway()

describe('the records of calls that the upstream refuses', () => {
  const QUOTE = 'may not say xyzzy-plugh'
  const error = { message: QUOTE, code: 'content_filter', type: 'invalid_request_error', param: null }
  const refused = double.json(400, { error })
  const failed = { type: 'response.failed', response: { status: 'failed', error } }
  const started = double.responseEvents(['Fo', 'und.']).slice(0, 4)
  const [inChat] = double.chunks(['Hel'])
  const ways: Record<string, { path: string; body: object; responses?: double.Behaviour; chat?: double.Behaviour }> = {
    'a chat': { path: '/v1/chat/completions', body: ASK, chat: refused },
    'a chat, in its stream': {
      path: '/v1/chat/completions',
      body: { ...ASK, stream: true },
      chat: double.sse([inChat, { error }], 'none'),
    },
    'a response and its fallback': { path: '/v1/responses', body: QUESTION, responses: refused, chat: refused },
    'a response before its output, and its fallback in its stream': {
      path: '/v1/responses',
      body: { ...QUESTION, stream: true },
      responses: double.sse([...started.slice(0, 1), failed], 'none'),
      chat: double.sse([{ error }], 'none'),
    },
    'a response, after its output began': {
      path: '/v1/responses',
      body: { ...QUESTION, stream: true },
      responses: double.sse([...started, failed], 'none'),
    },
  }
  let keeping: RunningGateway
  before(async () => {
    keeping = await startGateway(server.url, {}, { audit: { store_content: true } })
  })
  after(() => keeping.close())

  for (const [name, { path, body, responses, chat }] of Object.entries(ways))
    it(`quote nothing of ${name}, unless content is kept`, async () => {
      for (const gateway of [running, keeping]) {
        if (responses) server.on('/responses', responses)
        if (chat) server.on('/chat/completions', chat)
        const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
        const reply = await fetch(gateway.url + path, { method: 'POST', body: JSON.stringify(body), headers })
        assert.ok((await reply.text()).includes(QUOTE), 'its client hears what the upstream said')
        const calls = async () => (await gateway.gateway.calls.history({ limit: responses && chat ? 2 : 1 })).items
        await until(async () => (await calls()).length === (responses && chat ? 2 : 1))
        for (const record of await calls()) {
          assert.equal(record.status, 'error')
          assert.equal(record.error?.includes(QUOTE), gateway === keeping)
          if (gateway === running)
            assert.match(record.error ?? '', /^The upstream \S+ (answered 400|reported an error) \(content_filter\)\.$/)
        }
      }
    })
})
