import { CLIENT_TOOLS, type PricedFields } from './priced-fields.ts'

/**
 * Request fields of the OpenAI-compatible API: https://ai.google.dev/gemini-api/docs/openai; prices:
 * https://ai.google.dev/gemini-api/docs/pricing, read 2026-11-26. `flex` is half the price and `priority` 80 % more.
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
  fees: { search: 35_000 },
  tiers: () => ({ service: { flex: 50, priority: 180 } }),
}
