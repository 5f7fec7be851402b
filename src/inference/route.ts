import type { Admission, Endpoint } from './admit.ts'
import { fallbackModel, type ModelDeps, modelFor } from './model-for.ts'
import type { ModelChoice } from './provider.ts'
import { passChat } from './relay/pass-chat.ts'
import { passConverted } from './relay/pass-converted.ts'
import { passResponse } from './relay/pass-response.ts'
import type { Passage } from './relay/passing.ts'
import type { Relay } from './relay/relay.ts'

/** Where a request can be answered. */
export interface Candidate {
  relay: Relay
  path: Endpoint
  /** How the request and its reply are passed on there. */
  passage: Passage
  /** The model there; a promise only where the upstream's list is asked for. */
  model(): ModelChoice | Promise<ModelChoice>
}

/**
 * The second step of a call: the candidates that can answer it, in the order in which they are asked. A Responses request
 * goes to the responses endpoint, then to chat completions with the fallback role's model.
 */
export function route(deps: ModelDeps, relay: Relay, { endpoint, request, context }: Admission): Candidate[] {
  const asked = request.json.model ?? undefined
  if (endpoint === '/chat/completions')
    return [{ relay, path: endpoint, passage: passChat, model: () => modelFor(deps, asked, 'chat', context) }]
  const { provider } = deps
  return [
    { relay, path: endpoint, passage: passResponse, model: () => modelFor(deps, asked, 'primary', context) },
    {
      relay,
      path: '/chat/completions',
      passage: passConverted,
      model: () => modelFor(deps, fallbackModel(provider, asked), 'fallback', context),
    },
  ]
}
