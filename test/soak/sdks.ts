import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { PROVIDERS, type ProviderName } from './agents/providers.ts'
import { type Steered, startSteered, upstreamsAt } from './agents/steered.ts'
import { aiConversation } from './sdks/ai.ts'
import { INSTALLED } from './sdks/installed.ts'
import { langChain } from './sdks/langchain.ts'
import { llamaIndex } from './sdks/llamaindex.ts'
import type { Sdk } from './sdks/sdk.ts'
import { workThrough } from './sdks/work-through.ts'

/** The variables are those of `agents.ts`. */
const { GAZEWAY_TEST_AGENTS: folder = '', GAZEWAY_TEST_SESSION: only = '' } = process.env

const claudeOfAi: Sdk = ({ url, key }, model, tools) => {
  const { createAnthropic } = createRequire(join(folder, 'package.json'))('@ai-sdk/anthropic')
  const thinking = { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } }
  return aiConversation(createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model), thinking, tools)
}

const SDKS: Record<string, { needs: string; open: Sdk } | Sdk> = {
  ...INSTALLED,
  'ai over Messages': { needs: '@ai-sdk/anthropic', open: claudeOfAi },
  'LangChain over chat completions': { needs: '@langchain/langgraph', open: langChain(folder, false) },
  'LangChain over Responses': { needs: '@langchain/langgraph', open: langChain(folder, true) },
  'LlamaIndex over chat completions': { needs: '@llamaindex/openai', open: llamaIndex(folder) },
}

describe('A session of an SDK', () => {
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

  for (const [sdk, found] of Object.entries(SDKS)) {
    const { needs, open } = typeof found === 'function' ? { needs: null, open: found } : found
    const isInstalled = needs === null || (folder !== '' && existsSync(join(folder, 'node_modules', needs)))
    const skip = isInstalled ? false : `${needs} is not installed in the folder GAZEWAY_TEST_AGENTS`
    for (const name of Object.keys(PROVIDERS) as ProviderName[]) {
      if (!`${sdk} ${name}`.includes(only)) continue
      it(`comes to its end with ${sdk} and ${name}`, { skip }, async (t) => {
        const refusals = await workThrough(open, gateway, steered, name)
        t.diagnostic(`${refusals.length} requests were refused and mended`)
      })
    }
  }
})
