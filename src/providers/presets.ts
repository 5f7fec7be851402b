/** A known provider of models. */
export interface Preset {
  baseUrl: string
  /** The provider's own environment variable for its key; null where none is needed. */
  keyVariable: string | null
  /** Gazeway's model ids → the provider's. An id that is not here goes upstream as it is. */
  aliases: Record<string, string>
}

/**
 * Gazeway's own model names: those of the roles, and of metered calls. An upstream that has no alias for one answers it
 * with the model that it lists first (`modelFor`).
 */
export const OWN_MODELS: readonly string[] = [
  'llm-4.20-multi-agent-beta-0309',
  'llm-4.20-0309-reasoning',
  'llm-4-1-fast-reasoning',
  'llm-3-fast',
]

/** Providers by name (`GAZEWAY_UPSTREAM`). Every other value is the base URL of an OpenAI-compatible service. */
export const PRESETS: Record<string, Preset> = {
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    aliases: {
      // https://docs.x.ai/developers/models/grok-4.20-multi-agent-0309, as of July 2026.
      'llm-4.20-multi-agent-beta-0309': 'grok-4.20-multi-agent-0309',
      // https://docs.x.ai/developers/models/grok-4.20-0309, as of July 2026.
      'llm-4.20-0309-reasoning': 'grok-4.20-0309-reasoning',
      // grok-4-1-fast-reasoning was retired on 2026-05-15: https://docs.x.ai/developers/migration/may-15-retirement
      'llm-4-1-fast-reasoning': 'grok-4.3',
      // grok-3 was retired on 2026-05-15, by the same page, which does not name grok-3-fast.
      'llm-3-fast': 'grok-4.3',
    },
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    aliases: {
      'llm-4.20-multi-agent-beta-0309': 'gpt-5',
      'llm-4.20-0309-reasoning': 'gpt-5',
      'llm-4-1-fast-reasoning': 'gpt-5-mini',
      'llm-3-fast': 'gpt-4.1-mini',
    },
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    aliases: {
      // https://openrouter.ai/x-ai/grok-4.20-multi-agent, released 2026-03-31.
      'llm-4.20-multi-agent-beta-0309': 'x-ai/grok-4.20-multi-agent',
      // Its own page could not be read; still live by https://github.com/Significant-Gravitas/AutoGPT/pull/13118, 2026-05-14.
      'llm-4.20-0309-reasoning': 'x-ai/grok-4.20',
      // x-ai/grok-4-fast goes away on 2026-05-15 by its page. Of https://openrouter.ai/x-ai/grok-4.3 tells
      // https://github.com/anomalyco/models.dev/pull/1704, 2026-05-04.
      'llm-4-1-fast-reasoning': 'x-ai/grok-4.3',
      // The same: x-ai/grok-3-mini is a model that xAI itself no longer lists.
      'llm-3-fast': 'x-ai/grok-4.3',
    },
  },
  // Which models are there is up to its owner: the first that it lists answers.
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', keyVariable: null, aliases: {} },
  sandbox: {
    baseUrl: 'http://sandbox.local/v1',
    keyVariable: null,
    aliases: Object.fromEntries(OWN_MODELS.map((id) => [id, id])),
  },
}
