import { type AdmitDeps, admitFree, type CallerContext, type ModelBody } from './admit.ts'
import { NO_BILL } from './bill.ts'
import { type CountedCall, NO_HEADERS } from './call-rates.ts'
import { toChatFromMessages } from './convert/messages-to-chat.ts'
import type { MessagesRequest } from './convert/requests.ts'
import { estimatePrompt } from './estimate.ts'
import { badReply, hideSecrets, upstreamFailure } from './failure.ts'
import { modelFor } from './model-for.ts'
import type { NamedUpstream } from './named-upstream.ts'
import { NOTHING } from './observe.ts'
import { mayNameObjects, type OwnObjects } from './own-objects.ts'
import type { ModelChoice } from './provider.ts'
import type { Receiver } from './relay/receiver.ts'
import type { Relay } from './relay/relay.ts'
import type { Relays } from './relay/relays.ts'
import { type ClientRequest, readable, requestBody } from './relay/request-body.ts'
import { endingOf } from './relay/send.ts'
import { bodyText, passedHeaders } from './relay/upstream-reply.ts'
import type { Routing } from './routing.ts'
import { beginCall, type SettleDeps } from './settle.ts'

/** Path below the base URL of an upstream that speaks Messages. */
const PATH = '/messages/count_tokens'

/**
 * Counts the prompt tokens of a Messages request. An upstream that speaks Messages counts them, and its reply is passed
 * on unchanged; otherwise they are estimated here. Free of charge.
 *
 * @throws GazewayError as `OwnObjects.requireOwn`, `Routing.targets`, `admitFree`, `relay.open` and `toChatFromMessages`
 */
export type CountPrompt = (
  request: ClientRequest<ModelBody>,
  receiver: Receiver,
  context: CallerContext,
) => Promise<void>

/**
 * Creates the counter. It uses the upstream that the model is routed to first.
 *
 * @param relaysOf finds the relays of an upstream
 */
export function createCountPrompt(
  deps: SettleDeps & { routing: Routing },
  admitting: AdmitDeps,
  objects: OwnObjects,
  relaysOf: (upstream: NamedUpstream) => Relays,
): CountPrompt {
  const { countTokens, routing } = deps

  return async (request, receiver, context) => {
    if (mayNameObjects(request)) {
      const { callerId } = context
      await objects.requireOwn(request, callerId === null ? null : await admitting.identity(callerId))
    }
    const asked = request.json.model ?? undefined
    const [{ upstream, model: name }] = routing.targets(asked, 'chat').all
    const { provider } = upstream
    const requested = asked ?? name
    const choice = { ...provider.resolve(name, 'chat'), requested }
    const counted = await admitFree(admitting, { path: `/v1${PATH}`, model: choice }, context)
    const limits = counted?.headers ?? NO_HEADERS
    try {
      if (provider.protocol === 'anthropic') {
        const relays = relaysOf(upstream)
        const [relay = relays.firstAwake()] = relays.awake()
        const model = { ...(await modelFor(upstream, name, 'chat', context)), requested }
        await passOn(relay, request, model, { receiver, context, limits })
      } else {
        const { messages, tools } = readable(() => toChatFromMessages(request.json as unknown as MessagesRequest))
        const input_tokens = await estimatePrompt(countTokens, { messages, ...(tools && { tools }) })
        receiver.whole(200, { ...limits, 'content-type': 'application/json' }, JSON.stringify({ input_tokens }))
      }
    } finally {
      counted?.end(0)
    }
  }

  async function passOn(
    relay: Relay,
    request: ClientRequest<ModelBody>,
    model: ModelChoice,
    { receiver, context, limits }: { receiver: Receiver; context: CallerContext; limits: CountedCall['headers'] },
  ): Promise<void> {
    const { provider } = relay
    const fields = { model: model.upstream }
    const body = await requestBody(request, fields)
    const invocation = { provider, path: PATH, model, stream: false, request: request.json, bill: NO_BILL }
    const call = beginCall(deps, invocation, context)
    const { via, headers } = context
    try {
      const reply = await relay.open(PATH, { body, stream: false, via, headers }, receiver)
      if (reply.kind === 'stream') {
        reply.exchange.abort()
        throw badReply(provider, 'its reply has no token count')
      }
      const error = reply.status < 400 ? null : new Error(`The upstream answered ${reply.status}.`)
      await call.settle({ httpStatus: reply.status, error, ...NOTHING, isHad: false })
      const text = hideSecrets(bodyText(reply), provider.secrets)
      receiver.whole(
        reply.status,
        passedHeaders(reply.headers, { callId: call.callId, provider, attempt: 1, limits }),
        text,
      )
    } catch (error) {
      const failure = upstreamFailure(error, provider, endingOf(receiver))
      failure.callId = call.callId
      await call.settle({ httpStatus: null, error: failure, ...NOTHING, isHad: false })
      throw failure
    }
  }
}
