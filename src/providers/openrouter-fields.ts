import { CLIENT_TOOLS, type FieldRule, type FieldRules, type PricedFields } from './priced-fields.ts'

const none = <Name extends string>(...names: Name[]): Record<Name, FieldRule> =>
  Object.fromEntries(names.map((name) => [name, 'none'])) as Record<Name, FieldRule>

/** Preferences among the providers of a model (`ProviderPreferences`). Gazeway adds its own `max_price`. */
const provider: FieldRules = none(
  ...(['order', 'only', 'ignore', 'sort', 'allow_fallbacks', 'require_parameters', 'data_collection', 'zdr'] as const),
  ...(['enforce_distillable_text', 'quantizations', 'preferred_min_throughput', 'preferred_max_latency'] as const),
  'max_price',
)

/** Members of a tool or plugin about the models that it runs. */
const models: FieldRules = {
  model: 'model beside',
  analysis_models: 'model beside',
  max_completion_tokens: 'answer limit',
  ...none('instructions', 'name', 'reasoning', 'temperature', 'stream', 'forward_transcript', 'cache_control'),
  ...none('max_tool_calls', 'inherit_functions', 'inherited_function_names'),
  // Tools of the model that it runs.
  tools: 'unbounded',
}
const runsModels = { needsModel: true, limit: 'max_tool_calls' } as const
const runner = { ...runsModels, members: { type: 'none', parameters: { members: models } } } as const

/** Suffixes of a model's id that leave its price: https://openrouter.ai/docs/guides/routing/model-variants. */
const VARIANT = /:(?:nitro|floor|exacto|online)$/

/**
 * Request fields, by the types of `@openrouter/sdk` 1.3.19. Prices of searches and of parsing files:
 * https://openrouter.ai/docs/guides/features/plugins, read 2026-11-26; a search has five results unless it says so.
 */
export const OPENROUTER_FIELDS: PricedFields = {
  fields: {
    models: 'model instead',
    fallbacks: { members: { model: 'model instead', max_tokens: 'answer limit', speed: 'tier', ...none('thinking') } },
    route: 'none',
    provider: { members: provider },
    // What a preset contains is set at OpenRouter.
    preset: 'unbounded',
    service_tier: 'tier',
    speed: 'tier',
    prediction: 'prediction',
    web_search_options: { kind: { unit: 'search' } },
    stop_server_tools_when: 'none',
    plugins: {
      by: 'id',
      kinds: {
        web: { unit: 'search', limit: 'max_uses' },
        'web-fetch': { unit: 'page', limit: 'max_uses' },
        'file-parser': { unit: 'page' },
        'response-healing': {},
        'context-compression': {},
        moderation: {},
        // The routers choose among models for requests to `openrouter/auto` and the like, which have to be allowed and
        // priced by that name.
        '*-router': {},
        fusion: { ...runsModels, members: { ...models, ...none('id', 'enabled', 'preset') } },
      },
      others: 'refused',
    },
    tools: {
      by: 'type',
      kinds: {
        ...CLIENT_TOOLS,
        mcp: {},
        'web_search*': { unit: 'search' },
        file_search: { unit: 'file_search' },
        code_interpreter: { unit: 'code' },
        shell: { unit: 'code' },
        'openrouter:web_search': { unit: 'search', limit: 'max_uses' },
        'openrouter:web_fetch': { unit: 'page', limit: 'max_uses' },
        'openrouter:datetime': {},
        'openrouter:files': {},
        'openrouter:memory': {},
        'openrouter:text_editor': {},
        'openrouter:tool_search': {},
        'openrouter:apply_patch': {},
        'openrouter:experimental__search_models': {},
        'openrouter:bash': { unit: 'code' },
        'openrouter:shell': { unit: 'code' },
        'openrouter:image_generation': {
          unit: 'tool_image',
          needsModel: true,
          members: { type: 'none', parameters: 'model beside' },
        },
        'openrouter:advisor': runner,
        'openrouter:subagent': runner,
        'openrouter:fusion': runner,
      },
      others: 'refused',
    },
  },
  fees: { search: 20_000, file_search: 2_500, code: 30_000, tool_image: 250_000, page: 2_000 },
  readId: (model) => ({
    priced: model.replace(VARIANT, ''),
    ...(model.endsWith(':online') && { unit: 'search' }),
    ...(/^(?:openrouter\/|~)/.test(model) && { choosesModel: true }),
    ...(model.includes('@preset/') && { isUnbounded: true }),
  }),
  ceiling: 'provider',
}
