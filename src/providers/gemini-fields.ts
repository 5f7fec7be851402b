import { CLIENT_TOOLS, type FieldRules, type PricedFields } from './priced-fields.ts'

/** Models of which a grounded answer is charged once; of later ones each search is. */
export const GROUNDED_ONCE = /^(?:models\/)?gemini-[12][.-]/

const SEARCH = { kind: { unit: 'search' } } as const

/** Tools of Google's own API (https://ai.google.dev/api/caching#Tool), in both spellings of their names. */
const GOOGLE_TOOLS: FieldRules = {
  functionDeclarations: 'none',
  function_declarations: 'none',
  googleSearch: SEARCH,
  google_search: SEARCH,
  googleSearchRetrieval: SEARCH,
  google_search_retrieval: SEARCH,
  googleMaps: SEARCH,
  google_maps: SEARCH,
  codeExecution: 'none',
  code_execution: 'none',
  urlContext: 'none',
  url_context: 'none',
  fileSearch: 'none',
  file_search: 'none',
  computerUse: 'none',
  computer_use: 'none',
  // A tool of chat completions without its type.
  function: 'none',
}

/**
 * Request fields of the OpenAI-compatible API: https://ai.google.dev/gemini-api/docs/openai, and of Google's own.
 *
 * Prices, read 2026-11-27:
 * - https://ai.google.dev/gemini-api/docs/pricing: up to Gemini 2.5 a grounded answer costs 0.035 USD, later each search
 *   0.014 USD. Free ones of a day are charged here.
 * - https://ai.google.dev/gemini-api/docs/optimization: `flex` and batches cost half, `priority` 75 to 100 % more; the
 *   dearest counts.
 */
export const GEMINI_FIELDS: PricedFields = {
  fields: {
    service_tier: 'tier',
    serviceTier: 'tier',
    extra_body: {
      members: {
        google: {
          members: {
            cached_content: 'none',
            thinking_config: 'none',
            safety_settings: 'none',
            aspect_ratio: 'none',
          },
        },
      },
    },
    tools: {
      by: 'type',
      kinds: { ...CLIENT_TOOLS, 'google_*': { unit: 'search' }, code_execution: {}, url_context: {} },
      others: 'refused',
      unnamed: GOOGLE_TOOLS,
    },
  },
  fees: (model) => ({ search: GROUNDED_ONCE.test(model) ? 35_000 : 14_000 }),
  tiers: () => ({ service: { flex: 50, batch: 50, priority: 200 } }),
}
