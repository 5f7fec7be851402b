import type { Preset } from './preset.ts'

/** Its owner decides which models it has: the first that it lists answers. */
export const vllm: Preset = {
  name: 'vllm',
  label: 'vLLM',
  baseUrl: 'http://127.0.0.1:8000/v1',
  protocol: 'openai',
  key: null,
  roles: {},
  models: {},
}
