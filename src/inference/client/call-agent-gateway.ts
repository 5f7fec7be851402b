import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import type { CallerContext, ModelBody } from '../admit/admit.ts'
import type { CallDeps } from '../call.ts'
import { type AgentGatewayRequest, agentGatewayPassage } from '../passages/agent-gateway-passage.ts'
import type { Send } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import { createRelayTo, soleRelay } from '../relay/sole-relay.ts'
import { planOf, verbatimCandidate } from '../route/verbatim-routes.ts'
import type { ModelChoice, Provider } from '../upstreams/provider.ts'

/** A request to a model behind another service: the agent gateway. */
export interface AgentGatewayCall extends AgentGatewayRequest {
  /** The service. Its base URL ends with `/v1`. */
  service: Provider
  send: Send
  /** Maps a missing reply to an error. */
  failure(error: unknown): GazewayError
}

/**
 * Passes a model request on to another service, billed and recorded like every model call.
 *
 * @returns at the end of the reply: the error that the client received in it
 * @throws GazewayError as `MakeCall`, and when no reply came, before its first byte
 */
export type CallAgentGateway = (
  asked: AgentGatewayCall,
  receiver: Receiver,
  context: CallerContext,
) => Promise<Error | null>

const loadCall = lazily(() => import('../call.ts'))

/** Creates the function that passes requests on, under the bills of the callers. */
export function createCallAgentGateway(deps: CallDeps): CallAgentGateway {
  return async (asked, receiver, context) => {
    const { service, endpoint, request } = asked
    const choice = modelIn(request.json, deps.routing.upstreams[0].provider)
    const way = { path: endpoint, passage: agentGatewayPassage(asked) }
    const candidate = verbatimCandidate(soleRelay(createRelayTo(service, asked.send, asked.failure)), way, choice)
    const verbatim = { cost: 'answer', formType: null, service: service.name } as const
    const call = { endpoint, request, retries: 0, needsText: false, verbatim }
    const { createMakeCall } = await loadCall()
    const { failure } = await createMakeCall(deps)(call, planOf([candidate]), receiver, context)
    return failure
  }
}

/** Prices of the agent gateway: the flat one, unless the configuration sets one. */
const FIXED = { catalogue: {}, unknownPrice: 'fixed' } as const

/** Model in the request, by its own name: aliases and prices are the upstream's. */
function modelIn({ model }: ModelBody, provider: Provider): ModelChoice {
  if (typeof model === 'string' && model !== '') return { requested: model, upstream: model, ...FIXED }
  if ((model ?? '') === '') return { ...provider.resolve(undefined, 'chat'), ...FIXED }
  throw new GazewayError('validation_failed', 'model: missing; must be the name of a model.', { param: 'model' })
}
