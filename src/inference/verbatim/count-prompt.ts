import type { CallerContext, ModelBody, Verbatim } from '../admit/admit.ts'
import { mayNameObjects } from '../admit/named-objects.ts'
import { callerOf, type OwnObjects } from '../admit/own-objects.ts'
import { COUNT_TOKENS } from '../api/endpoints.ts'
import type { COUNT_CONTENT } from '../api/gemini-endpoints.ts'
import type { CallDeps, CallModel } from '../call.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { ClientRequest } from '../relay/request-body.ts'

const FREE: Verbatim = { cost: 'nothing', formType: null }

/**
 * Counts the prompt tokens of a Messages request, or of a Gemini request. An upstream that speaks Messages counts them, and its reply is passed
 * on unchanged; otherwise they are estimated here. Free of charge.
 *
 * @throws GazewayError as `OwnObjects.requireOwn`, `CallModel` and `toChatFromMessages`
 */
export type CountPrompt = (
  request: ClientRequest<ModelBody>,
  receiver: Receiver,
  context: CallerContext,
  endpoint?: typeof COUNT_TOKENS | typeof COUNT_CONTENT,
) => Promise<void>

/** Creates the counter. It asks the upstreams that the model is routed to, in the order of its calls. */
export const createCountPrompt =
  (call: CallModel, objects: OwnObjects, { identity }: Pick<CallDeps['billing'], 'identity'>): CountPrompt =>
  async (request, receiver, context, endpoint = COUNT_TOKENS) => {
    const naming = { endpoint, text: request.text, outline: request.outline }
    if (mayNameObjects(naming)) await objects.requireOwn(naming, await callerOf(context.callerId, identity))
    const asked = { endpoint, request, retries: 0, needsText: false, verbatim: FREE } as const
    await call(asked, receiver, context)
  }
