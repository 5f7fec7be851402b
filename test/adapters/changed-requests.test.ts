import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
before(async () => {
  upstream = await startUpstream()
  running = await startGateway(
    upstream.url,
    {},
    {
      upstreams: {
        claude: { provider: 'anthropic', base_url: upstream.url, api_keys: ['secret-of-claude'], models: ['claude-*'] },
      },
    },
  )
  upstream.on('/chat/completions', json(200, completion('Hello')))
  upstream.on('/messages', json(200, message('Hello')))
})
after(async () => {
  await running.close()
  await upstream.close()
})

/** The header that names what was changed in a request. */
async function changedIn(path: string, body: object): Promise<string | null> {
  const reply = await fetch(`${running.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
    body: JSON.stringify(body),
  })
  assert.equal(reply.status, 200, await reply.text())
  return reply.headers.get('x-gazeway-changed')
}

describe('the header x-gazeway-changed', () => {
  const messages = [{ role: 'user', content: 'Hello' }]

  it('names the hints of a Messages request that chat completions cannot say', async () => {
    const asked = {
      model: 'double-chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      metadata: { user_id: 'one' },
      mcp_servers: [],
    }
    assert.equal(await changedIn('/messages', asked), 'context_management=dropped, cache_control=dropped')
  })

  it('names what Messages cannot say of a chat request', async () => {
    const asked = { model: 'claude-x', messages, temperature: 1.5, seed: 7, prompt_cache_key: 'one', store: false }
    assert.equal(
      await changedIn('/chat/completions', asked),
      'seed=dropped, prompt_cache_key=dropped, temperature=lowered',
    )
  })

  it('is absent when nothing was changed, and when the upstream speaks the same API', async () => {
    assert.equal(await changedIn('/messages', { model: 'double-chat', max_tokens: 100, messages }), null)
    assert.equal(await changedIn('/chat/completions', { model: 'double-chat', messages, seed: 7 }), null)
  })
})
