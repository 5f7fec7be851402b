import type { Preset } from './preset.ts'

/** Its owner decides which models it has: the first that it lists answers. */
export const ollama: Preset = {
  name: 'ollama',
  label: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  protocol: 'openai',
  key: null,
  roles: {},
  models: {},
}
