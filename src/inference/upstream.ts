import type { CallContext } from '../calls/call-record.ts'
import type { Calls } from '../calls/calls.ts'
import type { Prices } from '../providers/prices.ts'
import { lazily } from '../wire/lazily.ts'
import type { CallDeps } from './call-model.ts'
import { type ChatResult, completeChat } from './complete-chat.ts'
import type { ChatRequest, ResponseRequest } from './convert/requests.ts'
import { createModelList, type Model } from './model-list.ts'
import type { OpenUpstream, openUpstream } from './open-upstream.ts'
import { createPassOn, type PassOn } from './pass-on.ts'
import { type PassthroughDeps, type PassthroughReply, type PassthroughRequest, passThrough } from './passthrough.ts'
import { createProvider, type Provider, type ProviderConfig } from './provider.ts'
import { type RespondResult, respond } from './respond.ts'

/** Where OpenAI's API lists models. */
const MODELS = '/models'
/** Anthropic's API lists twenty of its models at a time, unless it is asked for more. */
const ALL_MODELS = { limit: 1000 }
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
  /** Passes a request on to another service, under the bill of its caller. */
  passOn: PassOn
  /** The upstream's own list of its models, whole, and whatever {@link passThrough} may reach. */
  askForModels(context: CallContext): Promise<PassthroughReply>
  /** What clients can ask for, in OpenAI's form; the upstream is asked at most once a minute. */
  models(context: CallContext): Promise<Model[]>
  /** The upstream that is configured now, opened for whoever passes replies on as bytes; close it when the service stops. */
  openCalls(): Promise<OpenCalls>
  /** The same at once, for whoever has loaded what opens it. It is opened once, for all calls. */
  openBy(open: typeof openUpstream): OpenUpstream
}

/** Model calls that are open until they are closed. */
export interface OpenCalls {
  /** The upstream that is configured now; each request keeps to one. */
  current(): OpenUpstream
  /** Ends what is under way, with `service_stopping`, and closes the connections. */
  close(): Promise<void>
}

// The connection pool is only worth loading once there is a call.
const loadOpen = lazily(() => import('./open-upstream.ts'))

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
  billing: CallDeps['billing']
}): Upstream {
  const { config, ...rest } = options
  const provider = createProvider(config)
  const calling: CallDeps = { provider, ...rest, listed: (context) => models.listed(context) }
  let opened: OpenUpstream | undefined
  function openBy(open: typeof openUpstream): OpenUpstream {
    if (opened) return opened
    const { close, ...upstream } = open(calling, config.connect_timeout_ms)
    opened = {
      ...upstream,
      close() {
        opened = undefined
        return close()
      },
    }
    return opened
  }
  const open = async () => openBy((await loadOpen()).openUpstream)
  const deps: PassthroughDeps = { ...calling, open }
  const listing =
    (asking: PassthroughDeps): Upstream['askForModels'] =>
    (context) =>
      passThrough(
        { ...asking, allowedPaths: [MODELS], limitBytes: LIST_LIMIT_BYTES },
        { method: 'GET', path: MODELS, ...(provider.protocol === 'anthropic' && { query: ALL_MODELS }) },
        context,
      )
  const askForModels = listing(deps)
  // Of a chat its client knows, of what Gazeway looks up for it nobody does.
  const lookUp = listing({ ...deps, calls: { ...deps.calls, record() {} } })
  const models = createModelList({ provider, askForModels, lookUp, now: () => new Date() })
  return {
    provider,
    models: models.all,
    chat: (request, context) => completeChat(deps, request, context),
    respond: (request, context) => respond(deps, request, context),
    passThrough: (request, context) => passThrough({ ...deps, allowedPaths: config.allowed_paths }, request, context),
    passOn: createPassOn(calling),
    askForModels,
    async openCalls() {
      const upstream = await open()
      return { current: () => upstream, close: upstream.close }
    },
    openBy,
  }
}
