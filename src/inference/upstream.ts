import type { CallContext } from '../calls/call-record.ts'
import type { Calls } from '../calls/calls.ts'
import type { Prices } from '../providers/prices.ts'
import { type ChatRequest, type ChatResult, completeChat } from './chat.ts'
import type { ResponseRequest } from './convert/responses-to-chat.ts'
import type { UpstreamDeps } from './invoke.ts'
import { createModelList, type Model } from './model-list.ts'
import { type PassthroughReply, type PassthroughRequest, passThrough } from './passthrough.ts'
import { createProvider, type Provider, type ProviderConfig } from './provider.ts'
import type { OpenRelay, openRelay, ReplaceableRelay } from './relay/open.ts'
import { type RespondResult, respond } from './responses.ts'

/** Where OpenAI's API lists models. */
const MODELS = '/models'
/** Lists of some hundred models are longer than what a model may read. */
const LIST_LIMIT_BYTES = 16 * 1024 * 1024

/** The upstream part of the configuration. */
export interface UpstreamConfig extends ProviderConfig {
  allowed_paths: readonly string[]
  connect_timeout_ms: number
}

/** The configured provider of models, with routing, fallback and the audit trail around it. */
export interface Upstream {
  provider: Provider
  chat(request: ChatRequest, context: CallContext): Promise<ChatResult>
  respond(request: ResponseRequest, context: CallContext): Promise<RespondResult>
  passThrough(request: PassthroughRequest, context: CallContext): Promise<PassthroughReply>
  /** The upstream's own list of its models, whole, and whatever {@link passThrough} may reach. */
  askForModels(context: CallContext): Promise<PassthroughReply>
  /** What clients can ask for, in OpenAI's form; the upstream is asked at most once a minute. */
  models(context: CallContext): Promise<Model[]>
  /** What passes requests and replies through as bytes, for HTTP; close it when the service stops. */
  openRelay(): Promise<OpenRelay>
  /** The same at once, for whoever has loaded what opens it. */
  openRelayBy(open: typeof openRelay): ReplaceableRelay
}

/**
 * The upstream that `config` names. Nothing is connected to until it is called.
 *
 * @param options.storeContent whether call records keep prompts and answers
 */
export function createUpstream(options: {
  config: UpstreamConfig
  calls: Calls
  prices: Prices
  storeContent: boolean
  countTokens: (text: string) => Promise<number>
}): Upstream {
  const { config, ...rest } = options
  const provider = createProvider(config)
  const deps: UpstreamDeps = { provider, ...rest, listed: (context) => models.listed(context) }
  const listing =
    (asking: UpstreamDeps): Upstream['askForModels'] =>
    (context) =>
      passThrough(
        { ...asking, allowedPaths: [MODELS], limitBytes: LIST_LIMIT_BYTES },
        { method: 'GET', path: MODELS },
        context,
      )
  const askForModels = listing(deps)
  // Of a chat its client knows, of what Gazeway looks up for it nobody does.
  const lookUp = listing({ ...deps, calls: { ...deps.calls, record() {} } })
  const models = createModelList({ provider, askForModels, lookUp, now: () => new Date() })
  const openRelayBy: Upstream['openRelayBy'] = (open) => open(deps, config.connect_timeout_ms)
  return {
    provider,
    models: models.all,
    chat: (request, context) => completeChat(deps, request, context),
    respond: (request, context) => respond(deps, request, context),
    passThrough: (request, context) => passThrough({ ...deps, allowedPaths: config.allowed_paths }, request, context),
    askForModels,
    // The connection pool and the circuit breaker are only worth loading for a process that serves HTTP.
    openRelay: async () => openRelayBy((await import('./relay/open.ts')).openRelay),
    openRelayBy,
  }
}
