import { type Preset, STREAM_CANCELLATION } from './preset.ts'
import { NO_PRICED_FIELDS } from './priced-fields.ts'

// No price for mistral-small-latest: the source still lists the price of a model of 2024.
export const mistral: Preset = {
  name: 'mistral',
  label: 'Mistral AI',
  baseUrl: 'https://api.mistral.ai/v1',
  protocol: 'openai',
  key: { variable: 'MISTRAL_API_KEY', page: 'https://console.mistral.ai/api-keys' },
  stopsOnClose: { stops: false, source: STREAM_CANCELLATION },
  roles: {
    research: 'mistral-medium-latest',
    reasoning: 'mistral-medium-latest',
    fast_reasoning: 'mistral-small-latest',
    chat: 'mistral-small-latest',
  },
  pricedFields: NO_PRICED_FIELDS,
  models: {
    'mistral-medium-latest': {
      prices: { input: 1.5, output: 7.5 },
      source:
        'https://github.com/anomalyco/models.dev/blob/506b1b0279f8494c42921508044367b640cfc212/providers/mistral/models/mistral-medium-latest.toml',
      date: '2026-11-24',
    },
    'mistral-small-latest': {
      prices: 'unknown',
      source:
        'https://github.com/anomalyco/models.dev/blob/7fbe22429db68bfe4b3219fd7d8604105a7419d1/providers/mistral/models/mistral-small-latest.toml',
      date: '2026-11-24',
    },
  },
}
