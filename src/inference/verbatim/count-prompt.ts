import { type AdmitDeps, admitFree, type CallerContext, type ModelBody } from '../admit/admit.ts'
import { NO_BILL } from '../admit/bill.ts'
import { type CountedCall, NO_HEADERS } from '../admit/call-rates.ts'
import { callerOf, mayNameObjects, type OwnObjects } from '../admit/own-objects.ts'
import type { MessagesRequest } from '../api/requests.ts'
import { attemptOrder, circuitOf, type Destination, hasChoice, type Selection } from '../attempt/attempt-order.ts'
import { cooldownAfter, isEnded, MAX_ATTEMPTS } from '../attempt/fallback.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import { estimatePrompt } from '../observe/estimate.ts'
import { NOTHING } from '../observe/observe.ts'
import { type Answered, answered, type Failed, failed } from '../passages/passage.ts'
import { bodyText, passedHeaders, readRefusal } from '../passages/upstream-reply.ts'
import type { WholeReply } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Relays } from '../relay/relays.ts'
import { type ClientRequest, readable, requestBody } from '../relay/request-body.ts'
import { endingOf } from '../relay/send.ts'
import type { Routing } from '../route/routing.ts'
import { drawn } from '../route/weighted-order.ts'
import { beginCall, type SettleDeps } from '../settle/settle.ts'
import { badReply, hideSecrets, refusal, upstreamFailure } from '../upstreams/failure.ts'
import { modelFor } from '../upstreams/model-for.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelChoice, Provider } from '../upstreams/provider.ts'

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
 * Creates the counter. It asks the upstreams that the model is routed to, in the order of its calls.
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
    if (mayNameObjects(request)) await objects.requireOwn(request, await callerOf(context.callerId, admitting.identity))
    const places = placesFor(request.json.model ?? undefined)
    const counted = await admitFree(
      admitting,
      { path: `/v1${PATH}`, models: places.map(({ choice }) => choice) },
      context,
    )
    const limits = counted?.headers ?? NO_HEADERS
    try {
      const attempts: Attempt[] = []
      const asked = { endpoint: PATH, request, context }
      for (const selection of attemptOrder(places, () => attempts.at(-1)?.passed, asked)) {
        if (attempts.length >= MAX_ATTEMPTS) break
        if (selection.relay.provider.protocol !== 'anthropic') return await estimate(request, receiver, limits)
        const made = await passOn(selection, request, { receiver, context, limits, attempts })
        if (made.passed.kind === 'answered') return
        if (isEnded(made.passed.outcome.error)) return tell(made, receiver, { limits, attempt: attempts.length + 1 })
        attempts.push(made)
        const { candidate, relay } = selection
        if (hasChoice(places))
          candidate.relays.rest(relay, circuitOf(candidate, context), cooldownAfter(made.passed.refused))
      }
      tell(attempts[0] as Attempt, receiver, { limits, attempt: attempts.length })
    } finally {
      counted?.end(0)
    }
  }

  function placesFor(asked: string | undefined): Place[] {
    const { all, isWeighted } = routing.targets(asked, 'chat')
    const requested = asked ?? all[0].model
    return (isWeighted ? drawn(all) : all).map(({ upstream, model: name }) => {
      const choice = { ...upstream.provider.resolve(name, 'chat'), requested }
      return {
        relays: relaysOf(upstream),
        path: PATH,
        isStandIn: false,
        choice,
        modelId: choice.upstream,
        model: async (context) => ({ ...(await modelFor(upstream, name, 'chat', context)), requested }),
      }
    })
  }

  async function estimate(
    request: ClientRequest<ModelBody>,
    receiver: Receiver,
    limits: CountedCall['headers'],
  ): Promise<void> {
    const { messages, tools } = readable(() => toChatFromMessages(request.json as unknown as MessagesRequest))
    const input_tokens = await estimatePrompt(countTokens, { messages, ...(tools && { tools }) })
    receiver.whole(200, { ...limits, 'content-type': 'application/json' }, JSON.stringify({ input_tokens }))
  }

  async function passOn(
    selection: Selection<Place>,
    request: ClientRequest<ModelBody>,
    { receiver, context, limits, attempts }: Passing,
  ): Promise<Attempt> {
    const { relay, candidate, isLastResort, skipped } = selection
    const { provider } = relay
    const model = await candidate.model(context)
    const body = await requestBody(request, { model: model.upstream })
    const fallbackFrom = attempts[0]?.callId
    const invocation = {
      provider,
      path: PATH,
      model,
      stream: false,
      request: request.json,
      fallbackFrom,
      skipped,
      bill: NO_BILL,
    }
    const call = beginCall(deps, invocation, context)
    const { callId } = call
    const { via, headers } = context
    const circuit = circuitOf(candidate, context)
    const passed = await relay.open(PATH, { body, stream: false, via, headers, circuit, isLastResort }, receiver).then(
      (reply) => {
        if (reply.kind === 'stream') {
          reply.exchange.abort()
          return failed(badReply(provider, 'its reply has no token count'), reply.status)
        }
        if (reply.status >= 400) return refused(reply, provider, context)
        const text = hideSecrets(bodyText(reply), provider.secrets)
        const origin = { callId, provider, attempt: attempts.length + 1, limits }
        receiver.whole(reply.status, passedHeaders(reply.headers, origin), text)
        return answered(reply.status, NOTHING)
      },
      (error: unknown) => failed(upstreamFailure(error, provider, endingOf(receiver)), null),
    )
    if (passed.outcome.error) passed.outcome.error.callId = callId
    await call.settle({ ...passed.outcome, isHad: false })
    return { callId, passed, provider }
  }
}

/** A candidate that counts, or whose prompts are estimated. */
interface Place extends Destination {
  /** The model there as far as known. */
  choice: ModelChoice
  model(context: CallerContext): Promise<ModelChoice>
}

/** Context of an attempt. */
interface Passing {
  receiver: Receiver
  context: CallerContext
  limits: CountedCall['headers']
  /** The attempts before. */
  attempts: readonly Attempt[]
}

interface Attempt {
  callId: string
  passed: Answered | Failed
  provider: Provider
}

function refused(reply: WholeReply, provider: Provider, { requestId }: CallerContext): Failed {
  const { error } = readRefusal(reply, provider, requestId)
  return failed(refusal(error, reply, provider), reply.status, NOTHING, { refused: reply })
}

/** Passes a failure on. @throws its error when it is not a reply of the upstream */
function tell(
  { callId, passed, provider }: Attempt,
  receiver: Receiver,
  { limits, attempt }: { limits: CountedCall['headers']; attempt: number },
): void {
  const { refused: reply, outcome } = passed as Failed
  if (reply === null) throw outcome.error
  const text = hideSecrets(bodyText(reply), provider.secrets)
  receiver.whole(reply.status, passedHeaders(reply.headers, { callId, provider, attempt, limits }), text)
}
