import type { CallContext } from '../../calls/call-record.ts'
import type { Answering } from '../admit/admit.ts'
import { COUNT_TOKENS, type Endpoint } from '../api/endpoints.ts'
import { COUNT_CONTENT, EMBED_CONTENT, GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import { chatOverMessages } from '../passages/chat-over-messages.ts'
import { chatPassage } from '../passages/chat-passage.ts'
import { contentCount, contentEstimate } from '../passages/gemini-count.ts'
import { embedPassage, noEmbedPassage } from '../passages/gemini-embed.ts'
import { geminiOverChat } from '../passages/gemini-over-chat.ts'
import { geminiPassage } from '../passages/gemini-passage.ts'
import { messageOverChat } from '../passages/message-over-chat.ts'
import { messagePassage } from '../passages/message-passage.ts'
import type { Passage } from '../passages/passage.ts'
import { promptEstimate, promptPassage } from '../passages/prompt-passage.ts'
import { responseOverChat } from '../passages/response-over-chat.ts'
import { responsePassage } from '../passages/response-passage.ts'
import type { Relays } from '../relay/relays.ts'
import { type Affinity, drawn } from '../session/affinity.ts'
import { fallbackModel, modelFor } from '../upstreams/model-for.ts'
import type { ModelList } from '../upstreams/model-list.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelChoice, ModelRole } from '../upstreams/provider.ts'
import type { Routing, Target } from './routing.ts'

/** Maximum number of models remembered: clients may send any number of invented names. */
const REMEMBERED = 1000

/** A possible destination of a request. */
export interface Candidate {
  relays: Relays
  /** Endpoint there, as records name it. */
  path: string
  /** Converts the request and its reply. */
  passage: Passage
  /** True when it is another endpoint of the upstream before it. */
  isStandIn: boolean
  /** Milliseconds after which it is hedged by the next candidate. Null for no hedging. */
  hedgeAfterMs: number | null
  /** The model there, as far as known, for prices and limits. Null when none is asked. */
  choice: ModelChoice | null
  /** Id of that model, for circuit breakers. Null when no model is asked. */
  modelId: string | null
  /** False when another model of the upstream answers if it does not know the name. */
  isAssigned: boolean
  /** Fetches the token limits of the upstream's models, see `ModelList.limits`. Absent where no answer is limited. */
  limits?: ModelList['limits']
  /** The model there. A promise only when the upstream's list must be fetched. */
  model(context: CallContext): ModelChoice | null | Promise<ModelChoice>
}

/** Destinations of requests for a model. */
export interface Plan extends Answering {
  /** Candidates in the order to try them. Weighted candidates are drawn for each session, or for a call without one. */
  candidates(affinity: Affinity | null): readonly Candidate[]
}

/** Endpoints whose requests are answered for a model. */
export type Planned = Endpoint | typeof COUNT_TOKENS | typeof COUNT_CONTENT | typeof EMBED_CONTENT

/**
 * Finds the plan for an endpoint and a model; the role's model when the client named none.
 *
 * @throws as {@link Routing.targets}
 */
export type Plans = (endpoint: Planned, asked: string | undefined) => Plan

/** Passages to an upstream that speaks Messages, by the client's endpoint. */
const OVER_MESSAGES: Readonly<Record<Endpoint, Passage>> = {
  '/messages': messagePassage,
  '/chat/completions': chatOverMessages(chatPassage),
  '/responses': chatOverMessages(responseOverChat),
  [GENERATE_CONTENT]: chatOverMessages(geminiOverChat),
}

/**
 * First step of a call: finds its candidates. They are cached, since they are the same for all requests for a model.
 *
 * @param relaysOf finds the relays of an upstream
 */
export function createPlans(
  { routing, countTokens }: { routing: Routing; countTokens(text: string): Promise<number> },
  relaysOf: (upstream: NamedUpstream) => Relays,
): Plans {
  const estimates = { [COUNT_TOKENS]: promptEstimate(countTokens), [COUNT_CONTENT]: contentEstimate(countTokens) }
  const known = new Map<Planned, Map<string | null, Plan>>()

  function planFor(endpoint: Planned, asked: string | undefined): Plan {
    const role = endpoint === '/responses' ? 'primary' : 'chat'
    const { all, isWeighted, hedgeAfterMs } = routing.targets(asked, role)
    const named = asked ?? all[0].model
    const ways = all.map((target) => ({
      ...termsOf(target),
      candidates: candidatesAt(
        target,
        { endpoint, asked: named, isNamed: asked !== undefined, role, hedgeAfterMs, estimates },
        relaysOf,
      ),
    }))
    const candidates = ways.flatMap((way) => way.candidates)
    return {
      ...answeringOf(candidates),
      candidates:
        isWeighted && ways.length > 1
          ? (affinity) => drawn(ways, (way) => way, affinity).flatMap((way) => way.candidates)
          : () => candidates,
    }
  }

  return (endpoint, asked) => {
    const plans = known.get(endpoint) ?? new Map<string | null, Plan>()
    known.set(endpoint, plans)
    const key = asked ?? null
    const plan = plans.get(key)
    if (plan) return plan
    const made = planFor(endpoint, asked)
    if (plans.size >= REMEMBERED) plans.clear()
    plans.set(key, made)
    return made
  }
}

/** Weight of a target, and its name in draws. */
export const termsOf = ({ upstream, model, weight }: Target): { name: string; weight: number } => ({
  name: `${upstream.provider.id}/${model}`,
  weight,
})

/** The models that may answer at some candidates. */
export function answeringOf(candidates: readonly Candidate[]): Answering {
  const open = candidates.filter(({ isAssigned }) => !isAssigned)
  const lists = [...new Set(candidates.flatMap(({ limits }) => limits ?? []))]
  const standIns = async (context: CallContext) =>
    (await Promise.all(open.map(({ model }) => model(context)))).flatMap((choice) => choice ?? [])
  return {
    choices: candidates.flatMap(({ choice }) => choice ?? []),
    standIns: open.length === 0 ? null : standIns,
    limits(context) {
      const asked = lists.map((limits) => limits(context)).filter((one) => one !== null)
      return asked.length === 0 ? null : Promise.all(asked)
    },
  }
}

/**
 * Selects the candidates at the upstream that stores what a request continues, when there are any.
 *
 * @param keeper name of the upstream in records. Null for a request that continues nothing
 */
export function atKeeper(all: readonly Candidate[], keeper: string | null): readonly Candidate[] {
  if (keeper === null) return all
  const able = all.filter(({ relays }) => relays.upstream.provider.name === keeper)
  return able.length > 0 ? able : all
}

/** Properties of a request that determine its candidates. */
interface Asked {
  endpoint: Planned
  /** Model named by the client, otherwise the role's. */
  asked: string
  isNamed: boolean
  role: ModelRole
  hedgeAfterMs: number | null
  /** Passages of a prompt that the upstream cannot count. */
  estimates: Readonly<Record<typeof COUNT_TOKENS | typeof COUNT_CONTENT, Passage>>
}

/**
 * Candidates at one upstream. A Responses request goes to the responses endpoint, then to chat completions with the
 * fallback role's model. An upstream that speaks Messages is called at that endpoint, whatever the client speaks; one
 * with Google's own API at that, when the client speaks it.
 */
function candidatesAt(
  target: Target,
  { endpoint, asked, isNamed, role, hedgeAfterMs, estimates }: Asked,
  relaysOf: (upstream: NamedUpstream) => Relays,
): Candidate[] {
  const { upstream } = target
  const { provider } = upstream
  const relays = relaysOf(upstream)
  const at = (
    path: string,
    passage: Passage,
    { name = target.model, as = role, requested = asked } = {},
  ): Candidate => {
    const resolved = provider.resolve(name, as)
    const isAssigned = !provider.isUnassigned(resolved.requested)
    const choice: ModelChoice = { ...resolved, requested, ...(!isAssigned && { isOpen: true }) }
    const model = isAssigned
      ? () => choice
      : async (context: CallContext) => ({ ...(await modelFor(upstream, name, as, context)), requested })
    return {
      relays,
      path,
      passage,
      isStandIn: false,
      hedgeAfterMs,
      choice,
      modelId: choice.upstream,
      isAssigned,
      limits: upstream.models.limits,
      model,
    }
  }
  const isMessages = provider.protocol === 'anthropic'
  const isGoogle = provider.googleApi !== null
  if (endpoint === COUNT_CONTENT) return [at(endpoint, isGoogle ? contentCount : estimates[endpoint])]
  if (endpoint === EMBED_CONTENT) return [at(endpoint, isGoogle ? embedPassage : noEmbedPassage)]
  if (endpoint === GENERATE_CONTENT && isGoogle) return [at(endpoint, geminiPassage)]
  // Bedrock counts in a form of its own.
  const counts = isMessages && provider.cloud?.kind !== 'bedrock'
  if (endpoint === COUNT_TOKENS) return [at(endpoint, counts ? promptPassage : estimates[endpoint])]
  if (isMessages) return [at('/messages', OVER_MESSAGES[endpoint])]
  if (endpoint === '/chat/completions') return [at(endpoint, chatPassage)]
  if (endpoint === '/messages') return [at('/chat/completions', messageOverChat)]
  if (endpoint === GENERATE_CONTENT) return [at('/chat/completions', geminiOverChat)]
  const own = target.model === asked && provider.id === 'default'
  const name = own || !isNamed ? fallbackModel(provider, isNamed ? asked : undefined) : target.model
  const requested = own || !isNamed ? name : asked
  const standIn = at('/chat/completions', responseOverChat, { name, as: 'fallback', requested })
  return [at(endpoint, responsePassage), { ...standIn, isStandIn: true }]
}
