import { createOpenAI } from '@ai-sdk/openai'
import { aiConversation } from './ai.ts'
import { openAiAgents } from './openai-agents.ts'
import type { Sdk } from './sdk.ts'

const THINKING = {
  openai: { store: false, forceReasoning: true, reasoningEffort: 'high', include: ['reasoning.encrypted_content'] },
}

const ai =
  (api: 'chat' | 'responses'): Sdk =>
  ({ url, key }, model, tools) =>
    aiConversation(createOpenAI({ baseURL: `${url}/v1`, apiKey: key })[api](model), THINKING, tools)

/** SDKs among the dependencies of the tests, by name and API. */
export const INSTALLED: Readonly<Record<string, Sdk>> = {
  'ai over Responses': ai('responses'),
  'ai over chat completions': ai('chat'),
  '@openai/agents over Responses': openAiAgents(true),
  '@openai/agents over chat completions': openAiAgents(false),
}
