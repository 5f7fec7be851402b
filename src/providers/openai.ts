import { OPENAI_FIELDS } from './openai-fields.ts'
import { type Preset, STREAM_CANCELLATION, type TokenPrices } from './preset.ts'

/** URL of a file in the models.dev catalogue, at a commit. */
const catalogueAt = (commit: string, id: string): string =>
  `https://github.com/anomalyco/models.dev/blob/${commit}/providers/openai/models/${id}.toml`

/**
 * Prices of a model with those of its service tiers.
 *
 * - `flex` costs as much as batches, half: https://developers.openai.com/api/docs/guides/flex-processing, read 2026-11-25
 * - `priority`: https://openai.com/api-priority-processing, read 2026-11-25; gpt-5.6 by the source of its standard price
 */
const tiered = (standard: TokenPrices, priority?: TokenPrices) => ({
  ...standard,
  service_tiers: { flex: halved(standard), ...(priority && { priority }) },
})

function halved({ input, output, cached_input, cache_write }: TokenPrices): TokenPrices {
  return {
    input: input / 2,
    output: output / 2,
    ...(cached_input !== undefined && { cached_input: cached_input / 2 }),
    ...(cache_write !== undefined && { cache_write: cache_write / 2 }),
  }
}

// Its listing states no limits. Longest answers by https://www.npmjs.com/package/llm-zoo/v/1.37.0, read 2026-11-26.
const zoo = 'https://www.npmjs.com/package/llm-zoo/v/1.37.0'
const GPT_5 = { tokens: 128_000, source: zoo }
const O_SERIES = { tokens: 100_000, source: zoo }

export const openai: Preset = {
  name: 'openai',
  label: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  protocol: 'openai',
  accepts: ['system_first', 'cache_key'],
  adminKey: {
    variable: 'OPENAI_ADMIN_KEY',
    page: 'https://platform.openai.com/settings/organization/admin-keys',
    prefix: 'sk-admin-',
  },
  key: { variable: 'OPENAI_API_KEY', page: 'https://platform.openai.com/api-keys' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  roles: { research: 'gpt-5', reasoning: 'gpt-5', fast_reasoning: 'gpt-5-mini', chat: 'gpt-4.1-mini' },
  pricedFields: OPENAI_FIELDS,
  models: {
    'gpt-5': {
      prices: tiered({ input: 1.25, output: 10, cached_input: 0.125 }, { input: 2.5, output: 20, cached_input: 0.25 }),
      source:
        'https://github.com/anomalyco/models.dev/blob/0760ceffd3e02115e6480d9a0be7992c330c2f35/providers/openai/models/gpt-5.toml',
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    'gpt-5-mini': {
      prices: tiered(
        { input: 0.25, output: 2, cached_input: 0.025 },
        { input: 0.45, output: 3.6, cached_input: 0.045 },
      ),
      source:
        'https://github.com/anomalyco/models.dev/blob/8734c00cd030e035b6aa2ebd3cf9ec98b54026bf/providers/openai/models/gpt-5-mini.toml',
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    'gpt-5.6': {
      prices: {
        ...tiered(
          { input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 },
          { input: 4, output: 20, cached_input: 0.4, cache_write: 2.5 },
        ),
        long_prompt: { above: 272_000, input: 4, output: 15, cached_input: 0.4, cache_write: 5 },
      },
      source: catalogueAt('a9d4591d48c6d06de0a55c958978395f3c303e24', 'gpt-5.6'),
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    'gpt-5.2': {
      prices: tiered({ input: 1.75, output: 14, cached_input: 0.175 }, { input: 3.5, output: 28, cached_input: 0.35 }),
      source: catalogueAt('ecee1e6258445b5bc7b6159247fba74257b7f28e', 'gpt-5.2'),
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    'gpt-5.1': {
      prices: tiered({ input: 1.25, output: 10, cached_input: 0.125 }, { input: 2.5, output: 20, cached_input: 0.25 }),
      source: catalogueAt('0760ceffd3e02115e6480d9a0be7992c330c2f35', 'gpt-5.1'),
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    'gpt-5-nano': {
      prices: tiered({ input: 0.05, output: 0.4, cached_input: 0.005 }),
      source: catalogueAt('0760ceffd3e02115e6480d9a0be7992c330c2f35', 'gpt-5-nano'),
      date: '2026-11-24',
      maxOutput: GPT_5,
    },
    o3: {
      prices: tiered({ input: 2, output: 8, cached_input: 0.5 }, { input: 3.5, output: 14, cached_input: 0.875 }),
      source: catalogueAt('8734c00cd030e035b6aa2ebd3cf9ec98b54026bf', 'o3'),
      date: '2026-11-24',
      maxOutput: O_SERIES,
    },
    'o4-mini': {
      prices: tiered({ input: 1.1, output: 4.4, cached_input: 0.275 }, { input: 2, output: 8, cached_input: 0.5 }),
      source: catalogueAt('0760ceffd3e02115e6480d9a0be7992c330c2f35', 'o4-mini'),
      date: '2026-11-24',
      maxOutput: O_SERIES,
    },
    'gpt-4.1-mini': {
      prices: {
        input: 0.4,
        output: 1.6,
        service_tiers: { priority: { input: 0.7, output: 2.8, cached_input: 0.175 } },
      },
      source: 'https://deploybase.ai/articles/openai-pricing',
      date: '2026-03',
      maxOutput: { tokens: 32_768, source: zoo },
    },
  },
}
