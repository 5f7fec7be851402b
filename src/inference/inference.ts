import type { CallContext } from '../calls/call-record.ts'
import type { Calls } from '../calls/calls.ts'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { lazily } from '../lazily.ts'
import { isUnpriced, originOf, type Prices } from '../providers/prices.ts'
import { loadShippedCatalogue } from '../providers/shipped-catalogue.ts'
import { mayRequest } from './admit/allowed-models.ts'
import type { PaidContext } from './admit/bill.ts'
import type { ChatRequest, ResponseRequest } from './api/requests.ts'
import type { CallDeps } from './call.ts'
import { type CallAgentGateway, createCallAgentGateway } from './client/call-agent-gateway.ts'
import { type ChatResult, completeChat } from './client/complete-chat.ts'
import { type RespondResult, respond } from './client/respond.ts'
import { createFacts } from './dialect/facts.ts'
import type { OpenUpstream, openUpstream } from './open.ts'
import { SHOWN_ALONE } from './reasoning/reasoning.ts'
import { watchHeartbeats } from './relay/heartbeats.ts'
import type { Relays } from './relay/relays.ts'
import { createRouting, type Route, type Routing } from './route/routing.ts'
import { describeModel, type ModelDescription } from './status/describe-model.ts'
import { type TestedCandidate, testCandidate } from './status/test-candidate.ts'
import { createHealth, type Health } from './upstreams/health.ts'
import { createModelList, type Model } from './upstreams/model-list.ts'
import { createNamedUpstream, type NamedUpstream } from './upstreams/named-upstream.ts'
import { DEFAULT_UPSTREAM, type ModelRole, type Provider } from './upstreams/provider.ts'
import { nameInRecords, type ProviderConfig } from './upstreams/provider-config.ts'
import type { NamedUpstreamConfig } from './upstreams/upstream-configs.ts'
import { type DirectReply, type DirectRequest, directCall } from './verbatim/direct-call.ts'

export type { ChatResult } from './client/complete-chat.ts'
export type { ModelDescription } from './status/describe-model.ts'

/** Embeddings endpoint of OpenAI's API. */
const EMBEDDINGS = '/embeddings'
/** Model list of OpenAI's API. */
const MODELS = '/models'
/** Query for all models: Anthropic's API lists twenty at a time by default. */
const ALL_MODELS = { limit: 1000 }
/** Limit for model lists: some contain hundreds of models, more than a model may read at once. */
const LIST_LIMIT_BYTES = 16 * 1024 * 1024

/** Configuration of an upstream. */
export interface UpstreamConfig extends ProviderConfig {
  allowed_paths: readonly string[]
  connect_timeout_ms: number
}

/** The configured model providers, with routing, fallback and the audit trail. */
export interface Upstream {
  /** Provider of the upstream `default`. */
  provider: Provider
  /** Finds the upstreams that can answer for a model. */
  routing: Routing
  /**
   * Rejects a call that no upstream could answer.
   *
   * @param asked model in the request; the role's model when there is none
   * @throws GazewayError `upstream_not_configured` or `model_not_found`
   */
  requireKey(asked: string | undefined, role: ModelRole): void
  /** Resolves a model name to the provider's id, at the upstream that is tried first. */
  idOf(name: string): string
  chat(request: ChatRequest, context: PaidContext): Promise<ChatResult>
  respond(request: ResponseRequest, context: PaidContext): Promise<RespondResult>
  directCall(request: DirectRequest, context: CallContext): Promise<DirectReply>
  /**
   * Embeds texts through `/embeddings` of a named upstream.
   *
   * @throws GazewayError `config_invalid` when no upstream has the name
   */
  embed(of: EmbeddingQuery, context: CallContext): Promise<DirectReply>
  /** Forwards a request to another service, under the bill of its caller. */
  callAgentGateway: CallAgentGateway
  /**
   * Fetches an upstream's own model list, by default that of `default`. Not in the audit trail.
   */
  askForModels(context: CallContext, of?: NamedUpstream): Promise<DirectReply>
  /** Asks a model at one upstream for a word, bypassing all routes. */
  test(upstream: NamedUpstream, model: string, context: CallContext): Promise<TestedCandidate>
  /** Relays to an upstream. Null before the first call. */
  relaysOf(upstream: NamedUpstream): Relays | null
  /** Models that clients can request, in OpenAI's format. Each upstream is asked at most once a minute. */
  models(context: CallContext): Promise<Model[]>
  /** Describes a model by its name for clients, as far as the lists fetched so far tell. */
  describe(id: string): ModelDescription
  /**
   * Opens the configured upstreams for callers that pass replies on as bytes. Close the result when the service stops.
   */
  openCalls(): Promise<OpenCalls>
  /**
   * The same, synchronously, for a caller that has loaded `openUpstream`. The upstreams are opened once, for all calls.
   */
  openBy(open: typeof openUpstream): OpenUpstream
}

/** Texts to embed, and the upstream and model to use. */
export interface EmbeddingQuery {
  upstream: string
  model: string
  input: readonly string[]
}

/** Model calls, open until closed. */
export interface OpenCalls {
  /** The upstreams configured now. A request uses the same ones to its end. */
  current(): OpenUpstream
  /** Ends calls in flight with `service_stopping` and closes the connections. */
  close(): Promise<void>
}

// Loads the connection pool with the first call.
const loadOpen = lazily(async () => (await Promise.all([import('./open.ts'), loadShippedCatalogue()]))[0])

/** Options of {@link createUpstream}. */
interface UpstreamOptions {
  /** The upstream `default`. */
  config: UpstreamConfig
  /** All others, in order. */
  named?: readonly NamedUpstreamConfig[]
  routes?: readonly Route[]
  /** Health of an upstream, kept from earlier settings; new when absent. */
  healthOf?: (config: NamedUpstreamConfig) => Health
  calls: Calls
  /** Carrier of reasoning. Without one, reasoning is only shown. */
  reasoning?: CallDeps['reasoning']
  prices: Prices
  /** True when call records keep prompts and answers. */
  storeContent: boolean
  countTokens: (text: string) => Promise<number>
  late: CallDeps['late']
  /** Known forms that upstreams accept; none when absent. */
  facts?: CallDeps['facts']
  watchCache?: CallDeps['watchCache']
  /** Heartbeats of streams; every 15 s when absent. */
  heartbeat?: CallDeps['heartbeat']
  billing: CallDeps['billing']
}

/** Creates the upstreams of a configuration. Connects on the first call. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const {
    config,
    named = [],
    routes = [],
    healthOf = () => createHealth(),
    reasoning = SHOWN_ALONE,
    facts = createFacts(),
    ...rest
  } = options
  const listOf = ({ provider }: { provider: Provider }) => {
    const upstream = () => routing.upstreams.find((one) => one.provider === provider) as NamedUpstream
    return createModelList({
      provider,
      askForModels: (context) => askForModels(context, upstream()),
      now: () => new Date(),
    })
  }
  // Disambiguates records when the default's provider has the name of another upstream.
  const isTaken = named.some(({ id }) => id === nameInRecords(config))
  const first = createNamedUpstream({ ...config, ...(isTaken && { name: DEFAULT_UPSTREAM }) }, listOf, healthOf(config))
  const routing = createRouting([first, ...named.map((one) => createNamedUpstream(one, listOf, healthOf(one)))], routes)
  const calling: CallDeps = { routing, reasoning, facts, heartbeat: watchHeartbeats(), ...rest }
  const { provider } = first
  const { opened, openBy } = openedOnce(calling)
  const open = async () => openBy((await loadOpen()).openUpstream)
  const deps = { ...calling, provider, open }
  // A list is no call: no model is asked, and the client whose request needs the list did not ask the upstream.
  const askForModels: Upstream['askForModels'] = (context, of = first) =>
    directCall(
      { ...deps, isRecorded: false, only: of, allowedPaths: [MODELS], limitBytes: LIST_LIMIT_BYTES },
      { method: 'GET', path: MODELS, ...(of.provider.protocol === 'anthropic' && { query: ALL_MODELS }) },
      context,
    )
  return {
    provider,
    routing,
    requireKey: (asked, role) => void routing.targets(asked, role),
    idOf: (name) => routing.idOf(name),
    async models(context) {
      const all = await mergedModels(routing, rest.prices, context)
      return requestable(all, routing, await callerOf(rest.billing, context))
    },
    describe: (id) => describeModel(id, routing, rest.prices),
    chat: (request, context) => completeChat(deps, request, context),
    respond: (request, context) => respond(deps, request, context),
    directCall: (request, context) => directCall({ ...deps, allowedPaths: config.allowed_paths }, request, context),
    embed(query, context) {
      const body = { model: embeddingModel(query, named), input: query.input }
      const only = query.upstream === DEFAULT_UPSTREAM ? { only: first } : {}
      return directCall(
        { ...deps, ...only, allowedPaths: [EMBEDDINGS], limitBytes: LIST_LIMIT_BYTES },
        { method: 'POST', path: EMBEDDINGS, body },
        context,
      )
    },
    callAgentGateway: createCallAgentGateway(calling),
    askForModels,
    test: (of, model, context) => testCandidate(deps, of, model, context),
    relaysOf: (of) => opened()?.relaysOf(of) ?? null,
    async openCalls() {
      const upstream = await open()
      return { current: () => upstream, close: upstream.close }
    },
    openBy,
  }
}

/** @throws GazewayError `config_invalid` when no upstream has the name of the query */
function embeddingModel({ upstream, model }: EmbeddingQuery, named: readonly NamedUpstreamConfig[]): string {
  if (upstream === DEFAULT_UPSTREAM) return model
  if (named.some(({ id }) => id === upstream)) return `${upstream}/${model}`
  throw new GazewayError('config_invalid', `There is no upstream ${upstream}. Use default, or a name in upstreams.`)
}

/** Opens the upstreams of a configuration once, until they are closed. */
function openedOnce(calling: CallDeps): { opened(): OpenUpstream | undefined; openBy: Upstream['openBy'] } {
  let opened: OpenUpstream | undefined
  return {
    opened: () => opened,
    openBy(open) {
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
    },
  }
}

/**
 * Models that clients can request: those named by routes, then the names and lists of all upstreams with a key, without
 * duplicates. Those without a price are marked.
 */
async function mergedModels(routing: Routing, prices: Prices, context: CallContext): Promise<Model[]> {
  await loadShippedCatalogue()
  const { upstreams, names } = routing
  const withKey = upstreams.filter(({ provider }) => provider.hasKey)
  const asked = withKey.length === 0 ? [upstreams[0]] : withKey
  const lists = await Promise.all(asked.map(({ models }) => models.all(context)))
  const routed = names.map((id) => ({ id, object: 'model' as const, created: 0, owned_by: 'gazeway' }))
  const known = new Map([...routed, ...lists.flat()].map((model) => [model.id, model]))
  return [...known.values()].map((model) =>
    lacksPrice(model.id, routing, prices) ? { ...model, priced: false } : model,
  )
}

/** Key of a caller. Null for one without a key. */
const callerOf = async ({ identity }: CallDeps['billing'], { callerId }: CallContext): Promise<Identity | null> =>
  callerId === null ? null : identity(callerId)

/** Selects the models that a caller may request. */
function requestable(models: Model[], { find }: Routing, caller: Identity | null): Model[] {
  if (caller === null || caller.models === null) return models
  const choices = (id: string) =>
    find(id, 'chat').map(({ upstream, model }) => ({ ...upstream.provider.resolve(model, 'chat'), requested: id }))
  return models.filter(({ id }) => mayRequest(caller, id, choices(id)))
}

/** Tells whether a model has no price at an upstream that may answer for it. Which stand-in answers is open. */
const lacksPrice = (id: string, { find }: Routing, prices: Prices): boolean =>
  find(id, 'chat').some(({ upstream: { provider }, model }) => {
    const choice = provider.resolve(model, 'chat')
    return !provider.isUnassigned(choice.requested) && isUnpriced(originOf({ ...choice, requested: id }, prices))
  })
