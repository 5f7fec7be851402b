import type { Preset } from './preset.ts'

export const openai: Preset = {
  name: 'openai',
  label: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  protocol: 'openai',
  key: { variable: 'OPENAI_API_KEY', page: 'https://platform.openai.com/api-keys' },
  roles: { research: 'gpt-5', reasoning: 'gpt-5', fast_reasoning: 'gpt-5-mini', chat: 'gpt-4.1-mini' },
  models: {
    'gpt-5': {
      prices: { input: 1.25, output: 10, cached_input: 0.125 },
      source:
        'https://github.com/anomalyco/models.dev/blob/0760ceffd3e02115e6480d9a0be7992c330c2f35/providers/openai/models/gpt-5.toml',
      date: '2026-11-24',
    },
    'gpt-5-mini': {
      prices: { input: 0.25, output: 2, cached_input: 0.025 },
      source:
        'https://github.com/anomalyco/models.dev/blob/8734c00cd030e035b6aa2ebd3cf9ec98b54026bf/providers/openai/models/gpt-5-mini.toml',
      date: '2026-11-24',
    },
    'gpt-4.1-mini': {
      prices: { input: 0.4, output: 1.6 },
      source: 'https://deploybase.ai/articles/openai-pricing',
      date: '2026-03',
    },
  },
}
