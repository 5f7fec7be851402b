import { type Preset, STREAM_CANCELLATION } from './preset.ts'
import { NO_PRICED_FIELDS } from './priced-fields.ts'

// Prices are those of peak hours, twice the rates off peak that the source has.
export const deepseek: Preset = {
  name: 'deepseek',
  label: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  protocol: 'openai',
  accepts: ['system_first'],
  key: { variable: 'DEEPSEEK_API_KEY', page: 'https://platform.deepseek.com/api_keys' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  roles: {
    research: 'deepseek-flash',
    reasoning: 'deepseek-flash',
    fast_reasoning: 'deepseek-flash',
    chat: 'deepseek-flash',
  },
  pricedFields: NO_PRICED_FIELDS,
  models: {
    'deepseek-flash': {
      prices: { input: 0.3, output: 1.2, cached_input: 0.006 },
      source:
        'https://github.com/anomalyco/models.dev/blob/23c42445a033e7bc6c4a6bf21a8e47fdf1aacb66/providers/deepseek/models/deepseek-flash.toml',
      date: '2026-11-24',
      // Its listing states none.
      maxOutput: { tokens: 393_216, source: 'https://www.npmjs.com/package/llm-zoo/v/1.37.0' },
    },
  },
}
