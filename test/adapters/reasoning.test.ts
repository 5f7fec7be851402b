import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { claudeLike, DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { CLIENTS, withoutReasoning, withoutThinking } from './reasoning-clients.ts'

/** Clients of each API. */
const OF_EACH = ['@anthropic-ai/sdk', 'openai over Responses', 'openai over chat completions']

/** Stand-ins for reasoning that was lost. */
const LOST = /skip_thought_signature_validator|"reasoning_content":""/

const PROVIDERS = {
  DeepSeek: deepSeekLike(),
  OpenRouter: openRouterLike(),
  'Gemini 3': geminiLike(),
  Claude: claudeLike(),
}

for (const [name, provider] of Object.entries(PROVIDERS))
  describe(`A model that thinks as that of ${name}`, () => {
    let upstream: UpstreamDouble
    let running: RunningGateway
    before(async () => {
      upstream = await startUpstream()
      upstream.on(provider.path, provider.behaviour)
      running = await startGateway(upstream.url, {}, { upstream: { protocol: provider.protocol } })
    })
    after(async () => {
      await running.close()
      await upstream.close()
    })

    for (const [client, ask] of Object.entries(CLIENTS))
      for (const how of ['whole', 'streamed'] as const)
        it(`answers two questions with a tool to ${client}, ${how}`, async () => {
          assert.equal(await ask(running, how), DELIVERED)
          assert.doesNotMatch(String(upstream.received.map(({ text }) => text)), LOST)
        })

    for (const how of ['whole', 'streamed'] as const)
      it(`has its reasoning back where a Responses client returns none of it, ${how}`, async () => {
        const before = upstream.received.length
        assert.equal(await withoutReasoning(running, how), DELIVERED)
        const asked = upstream.received.slice(before)
        assert.equal(asked.length, 4, 'no request was refused')
        const [, second] = asked
        assert.match(second?.text ?? '', provider.state)
      })

    for (const how of ['whole', 'streamed'] as const)
      it(`answers a Messages client that returns no thinking, ${how}`, async () => {
        const before = upstream.received.length
        assert.equal(await withoutThinking(running, how), DELIVERED)
        const asked = upstream.received.slice(before)
        if (provider.protocol === 'anthropic') {
          // Its own API is not converted: it refuses such a turn, and is asked without thinking.
          assert.doesNotMatch(asked.at(-1)?.text ?? '', /"thinking":\{/)
          return
        }
        assert.equal(asked.length, 4, 'no request was refused')
        for (const { text } of asked.slice(1)) assert.match(text, provider.state)
        assert.doesNotMatch(String(asked.map(({ text }) => text)), /skip_thought_signature_validator/)
      })
  })

describe('A signature that comes after its call, and after a text beside it', () => {
  let upstream: UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await startUpstream()
    upstream.on('/chat/completions', geminiLike({ isLate: true }).behaviour)
    running = await startGateway(upstream.url)
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  for (const client of OF_EACH)
    it(`reaches the model again through ${client}`, async () => {
      assert.equal(await CLIENTS[client]?.(running, 'streamed'), DELIVERED)
      assert.doesNotMatch(String(upstream.received.map(({ text }) => text)), LOST)
    })
})
