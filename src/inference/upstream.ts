import type { CallContext } from '../calls/call-record.ts'
import type { Calls } from '../calls/calls.ts'
import { GazewayError } from '../errors.ts'
import type { Prices } from '../providers/prices.ts'
import { lazily } from '../wire/lazily.ts'
import type { CallDeps } from './call-model.ts'
import { type ChatResult, completeChat } from './complete-chat.ts'
import type { ChatRequest, ResponseRequest } from './convert/requests.ts'
import { mergedModels } from './merged-models.ts'
import { createModelList, type Model } from './model-list.ts'
import { createNamedUpstream, type NamedUpstream, type NamedUpstreamConfig } from './named-upstream.ts'
import type { OpenUpstream, openUpstream } from './open-upstream.ts'
import { createPassOn, type PassOn } from './pass-on.ts'
import { type PassthroughDeps, type PassthroughReply, type PassthroughRequest, passThrough } from './passthrough.ts'
import { DEFAULT_UPSTREAM, type ModelRole, nameInRecords, type Provider, type ProviderConfig } from './provider.ts'
import type { Relays } from './relay/relays.ts'
import { type RespondResult, respond } from './respond.ts'
import { createRouting, type Route, type Routing } from './routing.ts'
import { type TestedCandidate, testCandidate } from './test-candidate.ts'

/** Where OpenAI's API embeds texts. */
const EMBEDDINGS = '/embeddings'
/** Where OpenAI's API lists models. */
const MODELS = '/models'
/** Anthropic's API lists twenty of its models at a time, unless it is asked for more. */
const ALL_MODELS = { limit: 1000 }
/** Lists of some hundred models are longer than what a model may read. */
const LIST_LIMIT_BYTES = 16 * 1024 * 1024

/** The upstreams of the configuration. */
export interface UpstreamConfig extends ProviderConfig {
  allowed_paths: readonly string[]
  connect_timeout_ms: number
}

/** The configured providers of models, with routing, fallback and the audit trail around them. */
export interface Upstream {
  /** That of the upstream `default`. */
  provider: Provider
  /** Finds the upstreams that can answer for a model. */
  routing: Routing
  /**
   * Refuses a call that no upstream could answer.
   *
   * @param asked the model; that of the role where there is none
   * @throws GazewayError `upstream_not_configured` or `model_not_found`
   */
  requireKey(asked: string | undefined, role: ModelRole): void
  /** The provider's id of a model by one of its names, at the upstream that would be asked first. */
  idOf(name: string): string
  chat(request: ChatRequest, context: CallContext): Promise<ChatResult>
  respond(request: ResponseRequest, context: CallContext): Promise<RespondResult>
  passThrough(request: PassthroughRequest, context: CallContext): Promise<PassthroughReply>
  /**
   * Vectors of texts, from `/embeddings` of an upstream by its name.
   *
   * @throws GazewayError `config_invalid` where no upstream has the name
   */
  embed(of: EmbeddingQuery, context: CallContext): Promise<PassthroughReply>
  /** Passes a request on to another service, under the bill of its caller. */
  passOn: PassOn
  /** An upstream's own list of its models, whole, and whatever {@link passThrough} may reach; that of `default` unless another is named. */
  askForModels(context: CallContext, of?: NamedUpstream): Promise<PassthroughReply>
  /** Asks a model at one upstream for a word, past all routes. */
  test(upstream: NamedUpstream, model: string, context: CallContext): Promise<TestedCandidate>
  /** What carries requests to an upstream; null while nothing was asked. */
  relaysOf(upstream: NamedUpstream): Relays | null
  /** What clients can ask for, in OpenAI's form; each upstream is asked at most once a minute. */
  models(context: CallContext): Promise<Model[]>
  /** The upstreams that are configured now, opened for whoever passes replies on as bytes; close it when the service stops. */
  openCalls(): Promise<OpenCalls>
  /** The same at once, for whoever has loaded what opens them. They are opened once, for all calls. */
  openBy(open: typeof openUpstream): OpenUpstream
}

/** Texts to embed, and by whom. */
export interface EmbeddingQuery {
  upstream: string
  model: string
  input: readonly string[]
}

/** Model calls that are open until they are closed. */
export interface OpenCalls {
  /** The upstreams that are configured now; each request keeps to them. */
  current(): OpenUpstream
  /** Ends what is under way, with `service_stopping`, and closes the connections. */
  close(): Promise<void>
}

// The connection pool is only worth loading once there is a call.
const loadOpen = lazily(() => import('./open-upstream.ts'))

/**
 * The upstreams that the configuration names. Nothing is connected to until it is called.
 *
 * @param options.config the upstream `default`
 * @param options.named all others, in their order
 * @param options.storeContent whether call records keep prompts and answers
 */
export function createUpstream(options: {
  config: UpstreamConfig
  named?: readonly NamedUpstreamConfig[]
  routes?: readonly Route[]
  calls: Calls
  prices: Prices
  storeContent: boolean
  countTokens: (text: string) => Promise<number>
  billing: CallDeps['billing']
}): Upstream {
  const { config, named = [], routes = [], ...rest } = options
  const listOf = ({ provider }: { provider: Provider }) => {
    const upstream = () => routing.upstreams.find((one) => one.provider === provider) as NamedUpstream
    return createModelList({
      provider,
      askForModels: (context) => askForModels(context, upstream()),
      lookUp: (context) => lookUp(context, upstream()),
      now: () => new Date(),
    })
  }
  // Records tell the two apart, where the default's provider has the name of another upstream.
  const isTaken = named.some(({ id }) => id === nameInRecords(config))
  const first = createNamedUpstream({ ...config, ...(isTaken && { name: DEFAULT_UPSTREAM }) }, listOf)
  const routing = createRouting([first, ...named.map((one) => createNamedUpstream(one, listOf))], routes)
  const calling: CallDeps = { routing, ...rest }
  const { provider } = first

  let opened: OpenUpstream | undefined
  function openBy(open: typeof openUpstream): OpenUpstream {
    if (opened) return opened
    const { close, ...upstream } = open(calling)
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
  const deps = { ...calling, provider, open }
  const listing =
    (asking: PassthroughDeps): Upstream['askForModels'] =>
    (context, of = first) =>
      passThrough(
        { ...asking, only: of, allowedPaths: [MODELS], limitBytes: LIST_LIMIT_BYTES },
        { method: 'GET', path: MODELS, ...(of.provider.protocol === 'anthropic' && { query: ALL_MODELS }) },
        context,
      )
  const askForModels = listing(deps)
  // Of a chat its client knows, of what Gazeway looks up for it nobody does.
  const lookUp = listing({ ...deps, calls: { ...deps.calls, record() {} } })
  return {
    provider,
    routing,
    requireKey: (asked, role) => void routing.targets(asked, role),
    idOf: (name) => routing.idOf(name),
    models: (context) => mergedModels(routing, context),
    chat: (request, context) => completeChat(deps, request, context),
    respond: (request, context) => respond(deps, request, context),
    passThrough: (request, context) => passThrough({ ...deps, allowedPaths: config.allowed_paths }, request, context),
    embed({ upstream: name, model, input }, context) {
      if (name !== 'default' && !named.some(({ id }) => id === name))
        throw new GazewayError('config_invalid', `There is no upstream ${name}: name one of upstreams, or default.`)
      const body = { model: name === 'default' ? model : `${name}/${model}`, input }
      const only = name === 'default' ? { only: first } : {}
      return passThrough(
        { ...deps, ...only, allowedPaths: [EMBEDDINGS], limitBytes: LIST_LIMIT_BYTES },
        { method: 'POST', path: EMBEDDINGS, body },
        context,
      )
    },
    passOn: createPassOn(calling),
    askForModels,
    test: (of, model, context) => testCandidate(deps, of, model, context),
    relaysOf: (of) => opened?.relaysOf(of) ?? null,
    async openCalls() {
      const upstream = await open()
      return { current: () => upstream, close: upstream.close }
    },
    openBy,
  }
}
