import * as z from 'zod'
import { tagsIn } from '../../../src/calls/call-tags.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { CallerContext, ModelBody } from '../../../src/inference/admit/admit.ts'
import { mayNameObjects } from '../../../src/inference/admit/named-objects.ts'
import { callerOf, createOwnObjects } from '../../../src/inference/admit/own-objects.ts'
import type { Endpoint as ModelEndpoint } from '../../../src/inference/api/endpoints.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import type { Receiver } from '../../../src/inference/relay/receiver.ts'
import type { ClientRequest } from '../../../src/inference/relay/request-body.ts'
import { sessionOf } from '../../../src/inference/session/session.ts'
import { turnMetadataOf } from '../../../src/inference/session/turn-metadata.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Arrival, Endpoint } from '../../web/arrival.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import { readJson } from '../../web/json-body.ts'
import { ownKeyOf } from '../../web/own-key.ts'
import { traceparentOf } from '../../web/trace-parent.ts'
import { relayOnce } from '../relay-once.ts'

/** Fields that Gazeway acts on; the upstream validates the others. */
export const ChatRequest = z.looseObject({
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

/** Checks the body of a chat. @throws GazewayError `validation_failed` */
export const checkChat = (json: unknown): { stream: boolean } => ({
  stream: parseInput(ChatRequest, json).stream === true,
})

/** `POST /v1/chat/completions` */
export const chatCompletions = (calls: OpenCalls, gateway: Gateway): Endpoint =>
  modelCall(calls, gateway, { endpoint: '/chat/completions', check: checkChat })

/**
 * Creates an endpoint that answers with a model's reply.
 *
 * @param of.check refuses an invalid request
 * @param of.headers returns client headers that an upstream of the same protocol also gets
 * @param of.ask asks the model
 */
export function modelCall(
  calls: OpenCalls,
  gateway: Gateway,
  {
    endpoint,
    check,
    headers,
    ask = createAsk(calls, gateway, endpoint),
  }: {
    endpoint: ModelEndpoint
    check: (json: unknown) => { stream: boolean }
    headers?: (of: Arrival) => CallerContext['headers']
    ask?: Ask
  },
): Endpoint {
  return async (arrival) => {
    const body = await readJson(arrival.incoming, modelBodyLimit(gateway, arrival.callerId))
    const { stream } = check(body.json)
    const request = body as ClientRequest<ModelBody>
    await relayOnce(arrival, gateway, { path: `/v1${endpoint}`, text: body.text, stream }, (receiver) =>
      ask(request, receiver, callContext(arrival, request.json, headers?.(arrival))),
    )
  }
}

/** Asks a model for a client. @throws GazewayError before the first byte of the answer */
export type Ask = (request: ClientRequest<ModelBody>, receiver: Receiver, context: CallerContext) => Promise<void>

/** Creates the function that asks at an endpoint: only for objects that are the caller's own, and where they are stored. */
export function createAsk(calls: OpenCalls, gateway: Gateway, endpoint: ModelEndpoint): Ask {
  const objects = createOwnObjects(gateway.calls)

  /**
   * Checks that a caller names only its own files and earlier answers.
   *
   * @returns the upstream that has the earlier answer
   */
  async function requireOwn(request: ClientRequest<ModelBody>, callerId: string | null): Promise<string | null> {
    const caller = await callerOf(callerId, gateway.keys.identity)
    await objects.requireOwn({ endpoint, text: request.text }, caller)
    return endpoint === '/responses' ? objects.keeperOf(request.json, caller) : null
  }

  return async (request, receiver, context) => {
    const mayName = mayNameObjects({ endpoint, text: request.text, outline: request.outline })
    const keeper = mayName ? await requireOwn(request, context.callerId) : null
    // Clients over HTTP retry on their own.
    const asked = { endpoint, request, retries: 0, needsText: false, keeper }
    await calls.current().call(asked, receiver, context)
  }
}

/**
 * Context of a model call for a request.
 *
 * @param body JSON of the request; empty where there is none
 * @param headers forwarded to an upstream of the same protocol
 */
export function callContext(
  { incoming, callerId, address, isPaid, isLenient, isCacheOff, requestId }: Omit<Arrival, 'outgoing'>,
  body: ModelBody = {},
  headers?: CallerContext['headers'],
): CallerContext {
  const { via } = incoming.headers
  return {
    surface: 'http',
    callerId,
    address,
    isPaid,
    isLenient,
    isCacheOff,
    requestId,
    headers,
    ownKey: ownKeyOf(incoming),
    session: sessionOf(incoming.headers, body),
    tags: tagsIn(incoming.headers['x-gazeway-tags']),
    turnMetadata: turnMetadataOf(incoming.headers, body),
    traceparent: traceparentOf(incoming),
    via,
  }
}
