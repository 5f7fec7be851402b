import { type Preset, STREAM_CANCELLATION } from './preset.ts'
import { NO_PRICED_FIELDS } from './priced-fields.ts'

export const together: Preset = {
  name: 'together',
  label: 'Together AI',
  baseUrl: 'https://api.together.ai/v1',
  protocol: 'openai',
  listsPrices: true,
  key: { variable: 'TOGETHER_API_KEY', page: 'https://api.together.ai/settings/api-keys' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  roles: {
    research: 'deepseek-ai/DeepSeek-V4.1-Flash',
    reasoning: 'deepseek-ai/DeepSeek-V4.1-Flash',
    fast_reasoning: 'deepseek-ai/DeepSeek-V4.1-Flash',
    chat: 'deepseek-ai/DeepSeek-V4.1-Flash',
  },
  pricedFields: NO_PRICED_FIELDS,
  models: {
    'deepseek-ai/DeepSeek-V4.1-Flash': {
      prices: { input: 0.3, output: 1.2, cached_input: 0.006 },
      source:
        'https://github.com/anomalyco/models.dev/blob/72a02c82301b84567abcfb24bb102d96807cdae5/providers/togetherai/models/deepseek-ai/DeepSeek-V4.1-Flash.toml',
      date: '2026-11-24',
    },
  },
}
