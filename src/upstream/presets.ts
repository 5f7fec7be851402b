/** A known provider of models. */
export interface Preset {
  baseUrl: string
  /** The provider's own environment variable for its key; null where none is needed. */
  keyVariable: string | null
  /** Gazeway's model ids → the provider's. An id that is not here goes upstream as it is. */
  aliases: Record<string, string>
}

/** Providers by name (`GAZEWAY_UPSTREAM`). Every other value is the base URL of an OpenAI-compatible service. */
export const PRESETS: Record<string, Preset> = {
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    aliases: {
      'llm-4.20-multi-agent-beta-0309': 'grok-4.20-multi-agent-beta-0309',
      'llm-4.20-0309-reasoning': 'grok-4.20-0309-reasoning',
      'llm-4-1-fast-reasoning': 'grok-4-1-fast-reasoning',
      'llm-3-fast': 'grok-3-fast',
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
      'llm-4.20-multi-agent-beta-0309': 'x-ai/grok-4',
      'llm-4.20-0309-reasoning': 'x-ai/grok-4',
      'llm-4-1-fast-reasoning': 'x-ai/grok-4-fast',
      'llm-3-fast': 'x-ai/grok-3-mini',
    },
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariable: null,
    aliases: {
      'llm-4.20-multi-agent-beta-0309': 'gpt-oss:20b',
      'llm-4.20-0309-reasoning': 'gpt-oss:20b',
      'llm-4-1-fast-reasoning': 'gpt-oss:20b',
      'llm-3-fast': 'llama3.2',
    },
  },
  sandbox: { baseUrl: 'http://sandbox.local/v1', keyVariable: null, aliases: {} },
}
