import type { Admission, Endpoint } from './admit.ts'
import { fallbackModel, type ModelDeps, modelFor } from './model-for.ts'
import type { ModelChoice } from './provider.ts'
import { overMessages } from './relay/over-messages.ts'
import { passChat } from './relay/pass-chat.ts'
import { passConverted } from './relay/pass-converted.ts'
import { passMessage } from './relay/pass-message.ts'
import { passMessageConverted } from './relay/pass-message-converted.ts'
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

/** How requests are passed to an upstream that speaks Messages, by the endpoint that their client asks. */
const OVER_MESSAGES: Readonly<Record<Endpoint, Passage>> = {
  '/messages': passMessage,
  '/chat/completions': overMessages(passChat),
  '/responses': overMessages(passConverted),
}

/**
 * The second step of a call: the candidates that can answer it, in the order in which they are asked. A Responses request
 * goes to the responses endpoint, then to chat completions with the fallback role's model. An upstream that speaks
 * Messages is asked at that endpoint, whatever its client speaks.
 */
export function route(deps: ModelDeps, relay: Relay, { endpoint, request, context }: Admission): Candidate[] {
  const asked = request.json.model ?? undefined
  const { provider } = deps
  const role = endpoint === '/responses' ? 'primary' : 'chat'
  const model = () => modelFor(deps, asked, role, context)
  if (provider.protocol === 'anthropic') return [{ relay, path: '/messages', passage: OVER_MESSAGES[endpoint], model }]
  if (endpoint === '/chat/completions') return [{ relay, path: endpoint, passage: passChat, model }]
  if (endpoint === '/messages') return [{ relay, path: '/chat/completions', passage: passMessageConverted, model }]
  return [
    { relay, path: endpoint, passage: passResponse, model },
    {
      relay,
      path: '/chat/completions',
      passage: passConverted,
      model: () => modelFor(deps, fallbackModel(provider, asked), 'fallback', context),
    },
  ]
}
