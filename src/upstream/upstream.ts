import type { CallContext } from './call-record.ts'
import type { Calls } from './calls.ts'
import { type ChatRequest, type ChatResult, completeChat } from './chat.ts'
import type { UpstreamDeps } from './invoke.ts'
import { type PassthroughReply, type PassthroughRequest, passThrough } from './passthrough.ts'
import type { Prices } from './prices.ts'
import { createProvider, type Provider, type ProviderConfig } from './provider.ts'
import { type RespondResult, respond } from './responses.ts'
import type { ResponseRequest } from './responses-to-chat.ts'

/** The upstream part of the configuration. */
export interface UpstreamConfig extends ProviderConfig {
  allowed_paths: readonly string[]
}

/** The configured provider of models, with routing, fallback and the audit trail around it. */
export interface Upstream {
  provider: Provider
  chat(request: ChatRequest, context: CallContext): Promise<ChatResult>
  respond(request: ResponseRequest, context: CallContext): Promise<RespondResult>
  passThrough(request: PassthroughRequest, context: CallContext): Promise<PassthroughReply>
}

export function createUpstream(options: {
  config: UpstreamConfig
  calls: Calls
  prices: Prices
  storeContent: boolean
  countTokens: (text: string) => Promise<number>
}): Upstream {
  const { config, ...rest } = options
  const provider = createProvider(config)
  const deps: UpstreamDeps = { provider, ...rest }
  return {
    provider,
    chat: (request, context) => completeChat(deps, request, context),
    respond: (request, context) => respond(deps, request, context),
    passThrough: (request, context) => passThrough({ ...deps, allowedPaths: config.allowed_paths }, request, context),
  }
}
