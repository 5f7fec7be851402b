import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { message } from '../doubles/anthropic.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'

const chat = await double.startUpstream()
const claude = await double.startUpstream()

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
    t.after(async () => {
      await running.close()
      await chat.close()
      await claude.close()
    })
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
