import { type Preset, STREAM_CANCELLATION } from './preset.ts'
import { XAI_FIELDS } from './xai-fields.ts'

const pricing = { source: 'https://docs.x.ai/developers/pricing', date: '2026-07' }

/** Prices of a call whose prompt is longer, by models.dev at 92a6215. */
const above = 200_000
const long = { above, input: 2.5, output: 5, cached_input: 0.4 }
const long420 = { above, input: 4, output: 12, cached_input: 0.4 }

export const xai: Preset = {
  name: 'xai',
  label: 'xAI',
  baseUrl: 'https://api.x.ai/v1',
  protocol: 'openai',
  accepts: ['system_first', 'conversation_id'],
  key: { variable: 'XAI_API_KEY', page: 'https://console.x.ai' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  statesCost: true,
  roles: {
    // https://docs.x.ai/developers/models/grok-4.20-multi-agent-0309 and /grok-4.20-0309, as of July 2026.
    research: 'grok-4.20-multi-agent-0309',
    reasoning: 'grok-4.20-0309-reasoning',
    // grok-4-1-fast-reasoning and grok-3 were retired on 2026-05-15, by
    // https://docs.x.ai/developers/migration/may-15-retirement, which does not name grok-3-fast.
    fast_reasoning: 'grok-4.3',
    chat: 'grok-4.3',
  },
  pricedFields: XAI_FIELDS,
  models: {
    'grok-4.20-multi-agent-0309': {
      prices: { input: 1.25, output: 2.5, cached_input: 0.2, long_prompt: long420 },
      ...pricing,
    },
    'grok-4.20-0309-reasoning': {
      prices: { input: 1.25, output: 2.5, cached_input: 0.2, long_prompt: long420 },
      ...pricing,
    },
    'grok-4.3': {
      prices: { input: 1.25, output: 2.5, cached_input: 0.2, long_prompt: long },
      ...pricing,
    },
  },
}
