import { z } from 'zod'
import type { CallContext } from '../../../src/calls/call-record.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { OpenRelay } from '../../../src/inference/relay/open.ts'
import { type ChatBody, relayChat } from '../../../src/inference/relay/relay-chat.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Arrival, Endpoint } from '../../web/arrival.ts'
import { readJson } from '../../web/json-body.ts'
import { relayOnce } from '../relay-once.ts'

/** As much of the request as Gazeway acts on; everything else is for the upstream to judge. */
const ChatRequest = z.looseObject({
  model: z.string().min(1).max(256).nullish(),
  messages: z
    .array(z.looseObject({ role: z.string() }))
    .max(LIST_LIMIT)
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().nullish(),
  max_completion_tokens: z.int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
})

/** Refuses what is no chat. @throws GazewayError `validation_failed` */
export const checkChat = (json: unknown): { stream: boolean } => ({
  stream: parseInput(ChatRequest, json).stream === true,
})

/** `POST /v1/chat/completions` */
export function chatCompletions(relay: OpenRelay, gateway: Gateway): Endpoint {
  return async (arrival) => {
    const body = await readJson(arrival.incoming, gateway.loaded.config.http.max_body_bytes)
    const { stream } = checkChat(body.json)
    await relayOnce(arrival, gateway, { path: '/v1/chat/completions', text: body.text, stream }, (receiver) =>
      relayChat(relay.current(), body as ClientRequest<ChatBody>, receiver, callContext(arrival)),
    )
  }
}

/** What a call knows of the request that it serves. */
export function callContext({ incoming, callerId, requestId }: Arrival): CallContext & { requestId: string } {
  const { traceparent, via } = incoming.headers
  return {
    surface: 'http',
    callerId,
    requestId,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    via,
  }
}
