import { after, before, describe, it } from 'node:test'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { PROVIDERS, type ProviderName } from '../soak/agents/providers.ts'
import { type Steered, startSteered, upstreamsAt } from '../soak/agents/steered.ts'
import { INSTALLED } from '../soak/sdks/installed.ts'
import { workThrough } from '../soak/sdks/work-through.ts'

// Each provider and each SDK has its turn here; `npm run test:soak` has all pairs.
describe('A session of five turns, with an interruption and a compaction', () => {
  let steered: Steered
  let gateway: RunningGateway
  before(async () => {
    steered = await startSteered()
    gateway = await startGateway(steered.upstream.url, {}, { upstreams: upstreamsAt(steered) })
  })
  after(async () => {
    await gateway?.close()
    await steered?.upstream.close()
  })

  const sdks = Object.entries(INSTALLED)
  for (const [at, provider] of (Object.keys(PROVIDERS) as ProviderName[]).entries()) {
    const [name, sdk] = sdks[at % sdks.length] as (typeof sdks)[number]
    it(`comes to its end with ${name}, answered by ${provider}`, async (t) => {
      const refusals = await workThrough(sdk, gateway, steered, provider)
      t.diagnostic(`${refusals.length} requests were refused and mended`)
    })
  }
})
