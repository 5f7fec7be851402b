import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { OWN_RESPONSE } from '../../src/inference/api/own-response.ts'
import { isAboutObject, MISSING } from '../../src/inference/attempt/missing-endpoint.ts'
import { type Items, itemsOf, sentItems } from '../../src/inference/continue/continued-request.ts'
import { askingForSummary, besideSummary } from '../../src/inference/convert/compaction.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { changedField } from '../../src/inference/relay/request-body.ts'
import type { CallVerbatim, PathRequest } from '../../src/inference/verbatim/call-verbatim.ts'
import { parseJson } from '../../src/text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../src/text/lenient-reader.ts'
import { type Captured, capture } from '../web/captured-reply.ts'
import { responsesAsk } from './continued-ask.ts'

/** Path of a Responses conversation that is made shorter. */
export const COMPACT = '/responses/compact'

/**
 * `POST /v1/responses/compact`: passed on as it is to an upstream that has it. Any other is asked for a Response that is the
 * summary of the conversation.
 */
export function compact(calls: OpenCalls, gateway: Gateway): CallVerbatim {
  const ask = responsesAsk(calls, gateway)
  return async (asked, receiver, context) => {
    const { json } = asked.body
    const isOurs = String(json.previous_response_id).startsWith(OWN_RESPONSE)
    if (!isOurs && !speaksMessages(gateway, json.model, context.ownKey !== undefined)) {
      const { receiver: own, reply } = unlessMissing(receiver)
      await calls.current().callVerbatim(asked, own, context)
      if (reply() === null) return
    }
    const { receiver: held, reply } = capture(receiver)
    const earlier = isOurs ? await keptItems(gateway, String(json.previous_response_id), context.callerId) : []
    await ask(summaryOf(asked), held, context)
    const made = reply()
    if (made === null) return
    receiver.whole(made.status, made.headers, compacted(made, [...earlier, ...itemsOf(json.input)]))
  }
}

/** Items of a kept conversation. None of one that is not kept, which is refused as it is asked for. */
async function keptItems({ keptResponses }: Gateway, id: string, owner: string | null): Promise<Items> {
  const kept = await keptResponses.find(id, owner)
  return objectsOrNone(parseJson((await kept?.read()) ?? ''))
}

/** Tells whether no upstream of a model has the endpoint. A client with its own key needs none of ours. */
function speaksMessages({ upstream: { routing } }: Gateway, model: unknown, isOwn: boolean): boolean {
  if (typeof model !== 'string') return false
  const targets = isOwn ? [routing.first(model, 'primary')] : routing.find(model, 'primary')
  return targets.every(({ upstream: { provider } }) => provider.protocol === 'anthropic')
}

/** Receiver that keeps a reply which says that there is no such endpoint, and passes any other on. */
function unlessMissing(receiver: Receiver): { receiver: Receiver; reply: () => Buffer | string | null } {
  let kept: Buffer | string | null = null
  const own: Receiver = {
    ...receiver,
    whole(status, headers, bytes) {
      if (MISSING.has(status) && !isAboutObject(String(bytes))) kept = bytes
      else receiver.whole(status, headers, bytes)
    },
  }
  return { receiver: own, reply: () => kept }
}

function summaryOf({ body }: PathRequest): PathRequest['body'] {
  const asked = changedField(body, 'input', askingForSummary(sentItems(body.json.input)))
  return changedField(changedField(asked, 'store', false), 'stream', undefined)
}

/**
 * Builds the reply by OpenAI's reference: all messages of the user, then the compaction.
 *
 * @throws GazewayError `upstream_bad_reply` for an upstream that answered with something else
 */
function compacted({ status, body }: Captured, conversation: Items): Buffer | string {
  if (status !== 200) return body
  const { id, created_at, output, usage } = fieldsOrNone(parseJson(body.toString()))
  const made = objectsOrNone(output).filter(({ type }) => type === 'compaction')
  if (made.length === 0)
    throw new GazewayError('upstream_bad_reply', 'The upstream answered without a summary of the conversation.')
  const all = [...besideSummary(conversation), ...made]
  return JSON.stringify({ id, object: 'response.compaction', created_at, output: all, usage })
}
