import { OPENROUTER_FIELDS } from './openrouter-fields.ts'
import type { Preset } from './preset.ts'

const long_prompt = { above: 200_000, input: 2.5, output: 5, cached_input: 0.4 }

export const openrouter: Preset = {
  name: 'openrouter',
  label: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  protocol: 'openai',
  // https://openrouter.ai/docs/features/multimodal/pdfs and /prompt-caching, read 2026-11-27.
  accepts: ['file_urls', 'cache_marks'],
  adminKey: {
    variable: 'OPENROUTER_MANAGEMENT_KEY',
    page: 'https://openrouter.ai/settings/management-keys',
    prefix: null,
  },
  // https://openrouter.ai/docs/api-reference/api-keys/list: `hash` is the SHA-256 of the key.
  hashesKeys: true,
  listsLimits: true,
  listsPrices: true,
  key: { variable: 'OPENROUTER_API_KEY', page: 'https://openrouter.ai/keys' },
  // https://openrouter.ai/docs/api-reference/get-a-generation; what closing a stream stops depends on who answers.
  generations: '/generation',
  statesCost: true,
  roles: {
    // https://openrouter.ai/x-ai/grok-4.20-multi-agent, released 2026-03-31.
    research: 'x-ai/grok-4.20-multi-agent',
    // Its own page was unavailable. Still live by https://github.com/Significant-Gravitas/AutoGPT/pull/13118,
    // 2026-05-14.
    reasoning: 'x-ai/grok-4.20',
    // x-ai/grok-4-fast is retired on 2026-05-15, by its page. Source of https://openrouter.ai/x-ai/grok-4.3:
    // https://github.com/anomalyco/models.dev/pull/1704, 2026-05-04.
    fast_reasoning: 'x-ai/grok-4.3',
    // Also grok-4.3: xAI itself no longer lists grok-3-mini.
    chat: 'x-ai/grok-4.3',
  },
  pricedFields: OPENROUTER_FIELDS,
  models: {
    // Unknown, since two versions of the catalogue disagree: $2 and $6, or the price of x-ai/grok-4.20.
    'x-ai/grok-4.20-multi-agent': {
      prices: 'unknown',
      source:
        'https://github.com/anomalyco/models.dev/blob/5af3ed8213786a64f69555417fdb56645a8b0e0e/providers/openrouter/models/x-ai/grok-4.20-multi-agent.toml',
      date: '2026-11-24',
    },
    'x-ai/grok-4.20': {
      prices: { input: 1.25, output: 2.5, cached_input: 0.2, long_prompt },
      source:
        'https://github.com/anomalyco/models.dev/blob/0c009b7f4b806ac9793eb252ba4c419b4013599a/providers/openrouter/models/x-ai/grok-4.20.toml',
      date: '2026-11-24',
    },
    'x-ai/grok-4.3': {
      prices: { input: 1.25, output: 2.5, cached_input: 0.2, long_prompt },
      source:
        'https://github.com/anomalyco/models.dev/blob/22416dda645c4d67efab78a9809753dfead207d7/providers/openrouter/models/x-ai/grok-4.3.toml',
      date: '2026-11-24',
    },
  },
}
