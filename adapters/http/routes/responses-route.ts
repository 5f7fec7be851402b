import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Endpoint } from '../../web/arrival.ts'
import { responsesAsk } from '../continued-ask.ts'
import { modelCall } from './chat-completions-route.ts'

/** Fields that Gazeway acts on; the upstream validates the others. */
export const ResponsesRequest = z.looseObject({
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

/** Checks the body of a Responses request. @throws GazewayError `validation_failed` */
export const checkResponses = (json: unknown): { stream: boolean } => ({
  stream: parseInput(ResponsesRequest, json).stream === true,
})

/** `POST /v1/responses` */
export const responses = (calls: OpenCalls, gateway: Gateway): Endpoint =>
  modelCall(calls, gateway, { endpoint: '/responses', check: checkResponses, ask: responsesAsk(calls, gateway) })
