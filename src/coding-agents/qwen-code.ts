import { inHome, joined, named } from '../assistants/assistant.ts'
import type { CodingAgent } from './coding-agent.ts'
import { setting } from './setting.ts'

/** Variable of the key, which no one else sets. */
const VARIABLE = 'GAZEWAY_QWEN_KEY'

export const qwenCode: CodingAgent = {
  name: 'qwen-code',
  label: 'qwen-code',
  ownModels: null,
  notInProject: 'qwen-code reads its key from its settings, and those of a project are often committed',
  overridden: [VARIABLE],
  files({ url, key, model }, machine) {
    const path = joined(machine, named(machine, 'QWEN_HOME') ?? inHome(machine, '.qwen'), 'settings.json')
    const entry = model && {
      id: model.id,
      name: model.id,
      baseUrl: `${url}/v1`,
      envKey: VARIABLE,
      ...(model.context && { generationConfig: { contextWindowSize: model.context } }),
    }
    const settings = [
      setting('security.auth.selectedType', 'openai'),
      setting(`env.${VARIABLE}`, key),
      ...(entry ? [{ ...setting('modelProviders.openai', entry), isItem: true }, setting('model.name', entry.id)] : []),
    ]
    return [{ path, format: 'jsonc', settings, holdsKey: true }]
  },
  run: ({ url, key, model }, command) => ({
    command,
    env: {
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
      ...(model && { OPENAI_MODEL: model.id }),
      // Settings of a connection take precedence, except for the key.
      [VARIABLE]: key,
    },
  }),
  source: 'https://qwenlm.github.io/qwen-code-docs/en/users/configuration/model-providers/',
  tried: '0.15.10',
}
