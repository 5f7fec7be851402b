import { type AdmitDeps, admitFree, type CallerContext, type ModelBody } from './admit.ts'
import { NO_BILL } from './bill.ts'
import { toChatFromMessages } from './convert/messages-to-chat.ts'
import type { MessagesRequest } from './convert/requests.ts'
import { estimatePrompt } from './estimate.ts'
import { badReply, hideSecrets, upstreamFailure } from './failure.ts'
import { type ModelDeps, modelFor } from './model-for.ts'
import { NOTHING } from './observe.ts'
import type { ModelChoice } from './provider.ts'
import type { Receiver } from './relay/receiver.ts'
import type { Relay } from './relay/relay.ts'
import { type ClientRequest, readable, requestBody } from './relay/request-body.ts'
import { endingOf } from './relay/send.ts'
import { bodyText, passedHeaders } from './relay/upstream-reply.ts'
import { beginCall, type SettleDeps } from './settle.ts'

/** Below the base URL of an upstream that speaks Messages. */
const PATH = '/messages/count_tokens'

/**
 * Counts the tokens of the prompt of a Messages request: an upstream that speaks Messages counts them itself, and its
 * reply passes unchanged; for any other they are estimated here. It costs nothing.
 *
 * @throws GazewayError as `admitFree`, `relay.open` and `toChatFromMessages`
 */
export type CountPrompt = (
  request: ClientRequest<ModelBody>,
  receiver: Receiver,
  context: CallerContext,
) => Promise<void>

/** Counts prompts for the clients of one upstream. */
export function createCountPrompt(deps: SettleDeps & ModelDeps, admitting: AdmitDeps, relay: Relay): CountPrompt {
  const { provider, countTokens } = deps

  return async (request, receiver, context) => {
    const asked = request.json.model ?? undefined
    const choice = provider.resolve(asked, 'chat')
    const counted = await admitFree(admitting, { path: `/v1${PATH}`, model: choice }, context)
    try {
      if (provider.protocol === 'anthropic')
        await passOn(request, await modelFor(deps, asked, 'chat', context), { receiver, context })
      else {
        const { messages, tools } = readable(() => toChatFromMessages(request.json as unknown as MessagesRequest))
        const input_tokens = await estimatePrompt(countTokens, { messages, ...(tools && { tools }) })
        receiver.whole(200, { 'content-type': 'application/json' }, JSON.stringify({ input_tokens }))
      }
    } finally {
      counted?.end(0)
    }
  }

  async function passOn(
    request: ClientRequest<ModelBody>,
    model: ModelChoice,
    { receiver, context }: { receiver: Receiver; context: CallerContext },
  ): Promise<void> {
    const fields = { model: model.upstream }
    const body = await requestBody(request, { ...request.json, ...fields }, fields)
    const invocation = { path: PATH, model, stream: false, request: request.json, bill: NO_BILL }
    const call = beginCall(deps, invocation, context)
    const { via, headers } = context
    try {
      const reply = await relay.open(PATH, { body, stream: false, via, headers }, receiver)
      if (reply.kind === 'stream') {
        reply.exchange.abort()
        throw badReply(provider, 'it counts no tokens')
      }
      const error = reply.status < 400 ? null : new Error(`The upstream answered ${reply.status}.`)
      await call.settle({ httpStatus: reply.status, error, ...NOTHING, isHad: false })
      const text = hideSecrets(bodyText(reply), provider.secrets)
      receiver.whole(reply.status, passedHeaders(reply.headers, call.callId, provider), text)
    } catch (error) {
      const failure = upstreamFailure(error, provider, endingOf(receiver))
      failure.callId = call.callId
      await call.settle({ httpStatus: null, error: failure, ...NOTHING, isHad: false })
      throw failure
    }
  }
}
