import { CLIENT_TOOLS, type PricedFields } from './priced-fields.ts'

/**
 * Request fields, by the types of `groq-sdk` 1.6.0. Prices: https://groq.com/pricing, read 2026-11-26. `flex` costs as
 * much as the standard tier: https://console.groq.com/docs/flex-processing.
 */
export const GROQ_FIELDS: PricedFields = {
  fields: {
    service_tier: 'tier',
    compound_custom: {
      members: {
        models: { members: { answering_model: 'model beside', reasoning_model: 'model beside' } },
        tools: { members: { enabled_tools: 'none', wolfram_settings: 'none' } },
      },
    },
    search_settings: {
      members: { country: 'none', exclude_domains: 'none', include_domains: 'none', include_images: 'none' },
    },
    tools: {
      by: 'type',
      // A run of code costs 0.18 USD an hour, and takes at most some minutes.
      kinds: { ...CLIENT_TOOLS, mcp: {}, browser_search: { unit: 'search' }, code_interpreter: { unit: 'code' } },
      others: 'refused',
    },
  },
  fees: { search: 8_000, code: 15_000 },
  tiers: () => ({ service: { flex: 100 } }),
}
