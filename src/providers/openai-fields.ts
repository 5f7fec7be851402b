import { CLIENT_TOOLS, type FieldRules, type PricedFields } from './priced-fields.ts'

/** A container; a larger one than the default costs a multiple. */
const container: FieldRules = {
  type: 'none',
  file_ids: 'none',
  skills: 'none',
  network_policy: 'none',
  container_id: 'none',
  expires_after: 'none',
  memory_limit: 'unbounded',
}

/**
 * Request fields of chat completions and Responses, by the types of `openai` 6.49.0. Prices:
 * https://platform.openai.com/docs/pricing, read 2026-11-26.
 */
export const OPENAI_FIELDS: PricedFields = {
  fields: {
    service_tier: 'tier',
    prediction: 'prediction',
    web_search_options: { kind: { unit: 'preview_search' } },
    tools: {
      by: 'type',
      kinds: {
        ...CLIENT_TOOLS,
        mcp: {},
        'web_search_preview*': { unit: 'preview_search' },
        'web_search*': { unit: 'search' },
        file_search: { unit: 'file_search' },
        code_interpreter: {
          unit: 'code',
          members: { type: 'none', allowed_callers: 'none', container: { members: container } },
        },
        shell: {
          unit: 'code',
          members: { type: 'none', allowed_callers: 'none', environment: { members: container } },
        },
        // Its tokens are those of another model and not in the usage, so that each has the dearest price.
        image_generation: { unit: 'tool_image' },
      },
      others: 'refused',
    },
  },
  fees: { search: 10_000, preview_search: 25_000, file_search: 2_500, code: 30_000, tool_image: 250_000 },
}
