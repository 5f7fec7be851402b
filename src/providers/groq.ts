import { GROQ_FIELDS } from './groq-fields.ts'
import { type Preset, STREAM_CANCELLATION } from './preset.ts'

export const groq: Preset = {
  name: 'groq',
  label: 'Groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  protocol: 'openai',
  listsLimits: true,
  key: { variable: 'GROQ_API_KEY', page: 'https://console.groq.com/keys' },
  stopsOnClose: { stops: false, source: STREAM_CANCELLATION },
  roles: {
    research: 'openai/gpt-oss-120b',
    reasoning: 'openai/gpt-oss-120b',
    fast_reasoning: 'openai/gpt-oss-20b',
    chat: 'openai/gpt-oss-20b',
  },
  pricedFields: GROQ_FIELDS,
  models: {
    'openai/gpt-oss-120b': {
      prices: { input: 0.15, output: 0.6, cached_input: 0.075 },
      source:
        'https://github.com/anomalyco/models.dev/blob/3beb135e23779c1d180b4938ed172e2f67f2fee6/providers/groq/models/openai/gpt-oss-120b.toml',
      date: '2026-11-24',
    },
    'openai/gpt-oss-20b': {
      prices: { input: 0.075, output: 0.3, cached_input: 0.0375 },
      source:
        'https://github.com/anomalyco/models.dev/blob/3beb135e23779c1d180b4938ed172e2f67f2fee6/providers/groq/models/openai/gpt-oss-20b.toml',
      date: '2026-11-24',
    },
  },
}
