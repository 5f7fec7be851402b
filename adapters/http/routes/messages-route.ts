import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { CallerContext, ModelBody } from '../../../src/inference/admit/admit.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Arrival, Endpoint } from '../../web/arrival.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import { receiverOf } from '../../web/http-receiver.ts'
import { readJson } from '../../web/json-body.ts'
import { callContext, modelCall } from './chat-completions-route.ts'

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() })).max(LIST_LIMIT)])

/** Fields of a token count request that Gazeway acts on; the upstream validates the others. */
export const CountRequest = z.looseObject({
  model: z.string().min(1).max(256).nullish(),
  messages: z
    .array(z.looseObject({ role: z.string(), content: Content }))
    .max(LIST_LIMIT)
    .min(1),
  system: Content.nullish(),
  tools: z.array(z.looseObject({})).max(LIST_LIMIT).nullish(),
})

/** Fields of a messages request that Gazeway acts on. */
export const MessagesRequest = CountRequest.extend({
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  stop_sequences: z.array(z.string()).max(LIST_LIMIT).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
})

/** Checks the body of a Messages request. @throws GazewayError `validation_failed`, with Anthropic's status for it */
export const checkMessages = (json: unknown): { stream: boolean } => ({
  stream: parsed(MessagesRequest, json).stream === true,
})

/** Checks the body of a token count. @throws GazewayError as {@link checkMessages} */
export function checkCount(json: unknown): { stream: boolean } {
  parsed(CountRequest, json)
  return { stream: false }
}

function parsed<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  try {
    return parseInput(schema, json)
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    const { code, message, param } = error
    throw new GazewayError(code, message, { status: 400, ...(param !== null && { param }) })
  }
}

/** `POST /v1/messages` */
export const messages = (calls: OpenCalls, gateway: Gateway): Endpoint =>
  modelCall(calls, gateway, { endpoint: '/messages', check: checkMessages, headers: anthropicHeaders })

/** `POST /v1/messages/count_tokens` */
export function countTokens(calls: OpenCalls, gateway: Gateway): Endpoint {
  return async (arrival) => {
    const { upstream } = gateway.loaded.config
    const body = await readJson(arrival.incoming, modelBodyLimit(gateway, arrival.callerId))
    checkCount(body.json)
    const request = body as ClientRequest<ModelBody>
    const context = callContext(arrival, request.json, anthropicHeaders(arrival))
    const receiver = receiverOf(arrival, upstream.timeout_ms)
    await calls.current().countPrompt(request, receiver, context)
  }
}

/** Headers with the client's API version and beta features. */
function anthropicHeaders({ incoming }: Arrival): CallerContext['headers'] {
  const given: Record<string, string> = {}
  for (const name in incoming.headers) {
    const value = incoming.headers[name]
    if (name.startsWith('anthropic-') && typeof value === 'string') given[name] = value
  }
  return given
}
