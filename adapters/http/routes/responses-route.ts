import { z } from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import type { OpenRelay } from '../../../src/inference/relay/open.ts'
import type { RelayedRequest } from '../../../src/inference/relay/relay-fallback.ts'
import { relayResponses } from '../../../src/inference/relay/relay-responses.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Endpoint } from '../../web/arrival.ts'
import { readJson } from '../../web/json-body.ts'
import { relayOnce } from '../relay-once.ts'
import { callContext } from './chat-completions-route.ts'

/** As much of the request as Gazeway acts on; everything else is for the upstream to judge. */
const ResponsesRequest = z.looseObject({
  model: z.string().min(1).max(256).nullish(),
  input: z.union([z.string(), z.array(z.looseObject({})).max(LIST_LIMIT)]).nullish(),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(LIST_LIMIT)
    .nullish(),
})

/** Refuses what is no request for a response. @throws GazewayError `validation_failed` */
export const checkResponses = (json: unknown): { stream: boolean } => ({
  stream: parseInput(ResponsesRequest, json).stream === true,
})

/** `POST /v1/responses` */
export function responses(relay: OpenRelay, gateway: Gateway): Endpoint {
  return async (arrival) => {
    const body = await readJson(arrival.incoming, gateway.loaded.config.http.max_body_bytes)
    const { stream } = checkResponses(body.json)
    await relayOnce(arrival, gateway, { path: '/v1/responses', text: body.text, stream }, (receiver) =>
      relayResponses(relay.current(), body as ClientRequest<RelayedRequest>, receiver, callContext(arrival)),
    )
  }
}
