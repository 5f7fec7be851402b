import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { claudeLike, DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { CLIENTS } from './reasoning-clients.ts'

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
        })
  })
