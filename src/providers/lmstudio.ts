import type { Preset } from './preset.ts'

/** Its owner decides which models it has: the first that it lists answers. */
export const lmstudio: Preset = {
  name: 'lmstudio',
  label: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  protocol: 'openai',
  key: null,
  roles: {},
  models: {},
}
