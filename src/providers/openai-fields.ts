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
 *
 * An image of a tool has the dearest rates of an image model, those of `gpt-image-1` in genai-prices 0.1.8: 10 and 40 USD
 * for 1,000,000 tokens (newer ones cost 8 and 30). Reserved are 0.25 USD: 6,240 tokens, the largest image of good quality
 * (https://platform.openai.com/docs/guides/image-generation#calculating-costs).
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
        // Its tokens are those of another model, and beside the usage.
        image_generation: { unit: 'tool_image' },
      },
      others: 'refused',
    },
  },
  fees: {
    ...{ search: 10_000, preview_search: 25_000, file_search: 2_500, code: 30_000 },
    ...{ tool_image: 250_000, tool_image_input_token: 10, tool_image_output_token: 40 },
  },
}
