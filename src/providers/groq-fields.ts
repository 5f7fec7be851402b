import { CLIENT_TOOLS, type PricedFields } from './priced-fields.ts'

/**
 * Request fields, by the types of `groq-sdk` 1.6.0.
 *
 * Prices, read 2026-11-27:
 * - https://console.groq.com/docs/compound/systems/compound: 1,000 searches cost 5 USD, or 8 USD the advanced ones; the
 *   dearest counts, since an answer does not tell them apart. 1,000 visits of a page cost 1 USD, an hour of code 0.18 USD
 *   and of a browser 0.08 USD. Answers state no time: each run counts as five minutes of code.
 * - https://groq.com/pricing: a recording costs at least 10 seconds.
 * - https://console.groq.com/docs/flex-processing: `flex` costs as much as the standard tier.
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
      kinds: { ...CLIENT_TOOLS, mcp: {}, browser_search: { unit: 'search' }, code_interpreter: { unit: 'code' } },
      others: 'refused',
    },
  },
  leastSeconds: 10,
  fees: { search: 8_000, page: 1_000, code: 15_000 },
  tiers: () => ({ service: { flex: 100 } }),
}
