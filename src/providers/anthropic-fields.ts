import type { FieldRules, PricedFields } from './priced-fields.ts'

/**
 * Percentages for `speed: "fast"` by model (https://platform.claude.com/docs/en/build-with-claude/fast-mode; prices of
 * the variants in the comments, read 2026-11-27). A model that is not listed has the dearest.
 */
const FAST: ReadonlyArray<readonly [model: string, percent: number]> = [
  // 30 and 150 USD: https://openrouter.ai/anthropic/claude-opus-4.6-fast
  ['claude-opus-4-6', 600],
  // Withdrawn in July 2026.
  ['claude-opus-4-7', 600],
  // https://openrouter.ai/anthropic/claude-opus-4.8-fast/providers
  ['claude-opus-4-8', 200],
  // 10 and 50 USD: https://vercel.com/ai-gateway/models/claude-opus-5-fast.md
  ['claude-opus-5', 200],
  // 8 and 40 USD: https://vercel.com/ai-gateway/models/claude-opus-5.5-fast.md
  ['claude-opus-5-5', 200],
]
const DEAREST_FAST = 600

const SNAPSHOT = /-20\d{6}$/

const fastPercent = (model: string): number =>
  FAST.find(([id]) => id === model.replace(SNAPSHOT, ''))?.[1] ?? DEAREST_FAST

/** Members of a fallback; others are rejected there (`BetaFallbackParam`). */
const fallback: FieldRules = {
  model: 'model instead',
  max_tokens: 'answer limit',
  speed: 'tier',
  output_config: 'none',
  thinking: 'none',
}

/**
 * Request fields of the Messages API, by the types of `@anthropic-ai/sdk` 1.14.0. Prices:
 * https://platform.claude.com/docs/en/about-claude/pricing, read 2026-11-26.
 */
export const ANTHROPIC_FIELDS: PricedFields = {
  fields: {
    service_tier: 'tier',
    speed: 'tier',
    inference_geo: 'tier',
    // "default" lets the provider choose the models.
    fallbacks: { members: fallback, text: 'unbounded' },
    context_management: {
      members: {
        edits: {
          by: 'type',
          kinds: { 'clear_*': {}, 'compact_*': { runsAgain: true } },
          others: 'refused',
        },
      },
    },
    tools: {
      by: 'type',
      kinds: {
        custom: {},
        'bash_*': {},
        'text_editor_*': {},
        'memory_*': {},
        'computer_*': {},
        'browser_toolset_*': {},
        'tool_search_tool_*': {},
        mcp_toolset: {},
        'web_fetch_*': {},
        'web_search_*': { unit: 'search', limit: 'max_uses' },
        // Charged by the hour of a container beyond a free amount of the month, so that no call has a share.
        'code_execution_*': {},
        'advisor_*': {
          needsModel: true,
          limit: 'max_uses',
          members: {
            model: 'model beside',
            max_tokens: 'answer limit',
            ...{ type: 'none', name: 'none', max_uses: 'none', allowed_callers: 'none', cache_control: 'none' },
            ...{ caching: 'none', defer_loading: 'none', strict: 'none' },
          },
        },
      },
      others: 'refused',
    },
  },
  fees: { search: 10_000 },
  tiers: (model) => ({
    // Capacity that is paid for beforehand.
    service: { priority: 100, batch: 50 },
    speed: { fast: fastPercent(model) },
    // https://platform.claude.com/docs/en/build-with-claude/data-residency
    region: { us: 110 },
  }),
}
