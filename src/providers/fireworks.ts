import { type Preset, STREAM_CANCELLATION } from './preset.ts'
import { TIER_ALONE } from './priced-fields.ts'

export const fireworks: Preset = {
  name: 'fireworks',
  label: 'Fireworks AI',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  protocol: 'openai',
  key: { variable: 'FIREWORKS_API_KEY', page: 'https://app.fireworks.ai/settings/users/api-keys' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  roles: {
    research: 'accounts/fireworks/models/gpt-oss-120b',
    reasoning: 'accounts/fireworks/models/gpt-oss-120b',
    fast_reasoning: 'accounts/fireworks/models/gpt-oss-120b',
    chat: 'accounts/fireworks/models/gpt-oss-120b',
  },
  pricedFields: TIER_ALONE,
  models: {
    'accounts/fireworks/models/gpt-oss-120b': {
      prices: { input: 0.15, output: 0.6, cached_input: 0.01 },
      source:
        'https://github.com/anomalyco/models.dev/blob/10abbaa09f20d6e6fd04bdfaef36248e3cd95b7f/providers/fireworks-ai/models/accounts/fireworks/models/gpt-oss-120b.toml',
      date: '2026-11-24',
    },
  },
}
