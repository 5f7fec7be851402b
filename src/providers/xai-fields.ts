import { CLIENT_TOOLS, type PricedFields } from './priced-fields.ts'

/** Request fields, and prices of the tools on the server: https://docs.x.ai/developers/pricing, read 2026-11-26. */
export const XAI_FIELDS: PricedFields = {
  fields: {
    service_tier: 'tier',
    // The answer is fetched later, so that nobody reads what it used.
    deferred: 'unbounded',
    search_parameters: { kind: { unit: 'search', limit: 'max_search_results' } },
    tools: {
      by: 'type',
      kinds: {
        ...CLIENT_TOOLS,
        mcp: {},
        'web_search*': { unit: 'search' },
        x_search: { unit: 'search' },
        live_search: { unit: 'search' },
        'code_*': { unit: 'code' },
        file_search: { unit: 'file_search' },
        'collections_search*': { unit: 'file_search' },
        'attachment_search*': { unit: 'search' },
      },
      others: 'refused',
    },
  },
  fees: { search: 5_000, code: 5_000, file_search: 2_500 },
}
