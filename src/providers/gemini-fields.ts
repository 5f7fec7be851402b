import { CLIENT_TOOLS, type PricedFields } from './priced-fields.ts'

/** Models of which a grounded answer is charged once; of later ones each search is. */
export const GROUNDED_ONCE = /^(?:models\/)?gemini-[12][.-]/

/**
 * Request fields of the OpenAI-compatible API: https://ai.google.dev/gemini-api/docs/openai.
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
    },
  },
  fees: (model) => ({ search: GROUNDED_ONCE.test(model) ? 35_000 : 14_000 }),
  tiers: () => ({ service: { flex: 50, batch: 50, priority: 200 } }),
}
