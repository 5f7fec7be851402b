import { targetsOf } from '../assistants/change.ts'
import { opencode as assistant } from '../assistants/opencode.ts'
import type { AgentModel, CodingAgent, Endpoint } from './coding-agent.ts'
import { setting } from './setting.ts'

/** Variable of the key in a run that writes nothing. */
const VARIABLE = 'GAZEWAY_CONNECT_KEY'

/** Output limit in tokens of models whose own is not known: opencode wants both limits, or none. */
const OUTPUT = 8192

const entryOf = ({ id, context, output }: AgentModel) => ({
  name: id,
  ...(context && { limit: { context, output: output ?? Math.min(OUTPUT, context) } }),
})

/** Its settings, by the names of their fields. */
function settingsOf(endpoint: Endpoint, apiKey: string): Record<string, unknown> {
  const { url, model, smallModel } = endpoint
  const models = [model, smallModel].flatMap((one) => (one === null ? [] : [[one.id, entryOf(one)] as const]))
  return {
    $schema: 'https://opencode.ai/config.json',
    ...(model && { model: `gazeway/${model.id}` }),
    ...(smallModel && { small_model: `gazeway/${smallModel.id}` }),
    'provider.gazeway': {
      npm: '@ai-sdk/openai-compatible',
      name: 'Gazeway',
      options: { baseURL: `${url}/v1`, apiKey },
      models: Object.fromEntries(models),
    },
  }
}

export const opencode: CodingAgent = {
  name: 'opencode',
  label: 'opencode',
  ownModels: null,
  notInProject: null,
  overridden: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_CONFIG_CONTENT'],
  files: (endpoint, machine, scope) =>
    targetsOf(assistant, scope, machine)
      // It reads them in this order, and the last one counts.
      .slice(-1)
      .map(({ path }) => ({
        path,
        format: 'jsonc',
        settings: Object.entries(settingsOf(endpoint, `{file:${endpoint.keyFile}}`)).map(([name, value]) =>
          setting(name, value),
        ),
      })),
  run(endpoint, command) {
    const { 'provider.gazeway': gazeway, ...others } = settingsOf(endpoint, `{env:${VARIABLE}}`)
    const content = JSON.stringify({ ...others, provider: { gazeway } })
    return { command, env: { OPENCODE_CONFIG_CONTENT: content, [VARIABLE]: endpoint.key } }
  },
  source: 'https://opencode.ai/docs/providers/',
  tried: '1.18.33',
}
