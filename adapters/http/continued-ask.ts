import type { KeptConversation, KeptResponse, KeptResponses } from '../../src/conversations/kept-responses.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { ModelBody } from '../../src/inference/admit/admit.ts'
import { LAST_EVENTS } from '../../src/inference/api/finish-reason.ts'
import { OWN_RESPONSE } from '../../src/inference/api/own-response.ts'
import { continuedRequest, conversationWith, itemsOf } from '../../src/inference/continue/continued-request.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import { eventData } from '../../src/inference/observe/event-data.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { type ClientRequest, convertedText, exactText, parseExact } from '../../src/inference/relay/request-body.ts'
import { parseJson } from '../../src/text/json.ts'
import { outlineOf } from '../../src/text/json-members.ts'
import { structureBytes } from '../../src/text/json-structure.ts'
import { fieldsOrNone } from '../../src/text/lenient-reader.ts'
import type { Fields } from '../../src/text/typed-reader.ts'
import { LARGE_JSON, parseInTurns } from '../../src/wire/large-json.ts'
import { textAsLarge } from '../../src/wire/large-text.ts'
import { LIST_LIMIT } from '../../src/wire/validation.ts'
import { splitEvents } from '../../src/wire/whole-sse-events.ts'
import { type BodyLimit, modelBodyLimit } from '../web/body-limit.ts'
import { LARGEST_UNCOUNTED } from '../web/json-body.ts'
import { type Ask, createAsk } from './routes/chat-completions-route.ts'

/** Creates the function that asks for Responses. */
export const responsesAsk = (calls: OpenCalls, gateway: Gateway): Ask =>
  continuedAsk(createAsk(calls, gateway, '/responses'), gateway)

/**
 * Continues Responses that Gazeway made of chat completions or Messages, whose upstreams store nothing: the request is
 * sent with the conversation that it continues, and the answer is kept for the next one, unless `store` is false. The
 * conversation counts as part of the request's body, against the same limits.
 */
function continuedAsk(ask: Ask, gateway: Gateway): Ask {
  const { keptResponses: kept, buffered } = gateway
  return async (request, receiver, context) => {
    const owner = context.callerId
    const limit = modelBodyLimit(gateway, owner)
    /** Holds the bytes of the conversation; those of the client's own body are held by its endpoint. */
    const holder = {}
    const continues = request.json.previous_response_id ?? null
    try {
      const conversation = await found(kept, request, owner)
      const whole = conversation === null ? request : await continued(request, conversation, limit, holder)
      const { previous_response_id, store } = whole.json
      if (store === false || typeof previous_response_id === 'string') return await ask(whole, receiver, context)
      const keep = (response: Fields) =>
        void kept.keep(String(response.id), owner, keptOf(whole, { ...response, previous_response_id: continues }))
      return await ask(whole, watchOwn(receiver, keep), context)
    } finally {
      buffered.release(holder)
    }
  }
}

type ResponsesRequest = ClientRequest<ModelBody>

/** Finds the kept conversation that a request continues. */
async function found(kept: KeptResponses, { json }: ResponsesRequest, owner: string | null) {
  const { previous_response_id: id } = json
  return typeof id === 'string' ? kept.find(id, owner) : null
}

/**
 * Puts a kept conversation before the input of a request.
 *
 * @param holder holds the bytes of the conversation, until they are released
 * @returns the request itself when the conversation was deleted meanwhile
 * @throws GazewayError `payload_too_large`, `too_many_bodies`; `validation_failed` for too many items; `invalid_json` for
 *   a request nested too deeply
 */
async function continued(
  request: ResponsesRequest,
  conversation: KeptConversation,
  { bytes: most, setting, buffered, callerId }: BodyLimit,
  holder: object,
): Promise<ResponsesRequest> {
  const size = request.bytes.length + conversation.bytes
  if (size > most)
    throw new GazewayError(
      'payload_too_large',
      `The body and the conversation that it continues are larger than ${most} bytes (${setting}).`,
    )
  const take = (bytes: number) => size > LARGEST_UNCOUNTED && buffered?.take({ request: holder, callerId }, bytes)
  take(conversation.bytes)
  const list = await conversation.read()
  if (list === null) return request
  take(structureBytes(Buffer.from(list)))
  const earlier = await parsedItems(list)
  const exact = await exactItems(list)
  requireFewItems(earlier.length + itemsOf(request.json.input).length)
  const json = continuedRequest(request.json, earlier)
  const convert = (body: object) => continuedRequest({ ...body, ...request.edits }, exact ?? earlier)
  const write = exact === null ? convertedText(request, json, convert, size) : exactText(request.text, convert)
  const written = await write
  return { bytes: Buffer.from(written), text: String(written), json: json as ModelBody }
}

/** Parses a list of items; a large one in turns with other work, which reads the lists in an object part by part. */
async function parsedItems(list: string): Promise<Fields[]> {
  if (list.length <= LARGE_JSON) return JSON.parse(list)
  const { items } = (await parseInTurns(textAsLarge(`{"items":${list}}`))) as { items: Fields[] }
  return items
}

/** The same with objects for the numbers that JavaScript cannot represent. Null without such a number. */
async function exactItems(list: string): Promise<Fields[] | null> {
  return outlineOf(list).hasLargeNumber ? ((await parseExact(list)) as Fields[]) : null
}

/** Writes a Response to be kept, with its conversation: the numbers of its request keep their digits. */
async function keptOf(request: ResponsesRequest, response: Fields): Promise<KeptResponse> {
  const { json, edits } = request
  const listed = ({ input }: Fields) => ({ items: conversationWith(input, response.output) })
  const written = await convertedText(request, listed(json), (body) => listed({ ...body, ...edits }))
  const items = String(written).slice('{"items":'.length, -1)
  return { items, response: JSON.stringify({ ...response, store: true }) }
}

function requireFewItems(count: number): void {
  if (count > LIST_LIMIT)
    throw new GazewayError(
      'validation_failed',
      `input: the conversation has ${count} items with those that it continues; at most ${LIST_LIMIT} are allowed.`,
      { param: 'input' },
    )
}

/** Names a Response that Gazeway made, in JSON. */
const OWN = `"${OWN_RESPONSE}_`

/** Calls `onResponse` with a Response that Gazeway made, once it is complete. */
function watchOwn(receiver: Receiver, onResponse: (response: Fields) => void): Receiver {
  function look(bytes: Buffer | string): void {
    if (!bytes.includes(OWN) || !LAST_EVENTS.some((type) => bytes.includes(`"${type}"`))) return
    for (const event of splitEvents(Buffer.from(bytes as Buffer))) {
      const { type, response } = eventData(event) ?? {}
      if (LAST_EVENTS.includes(type)) note(response)
    }
  }
  function note(response: unknown): void {
    const { id, status } = fieldsOrNone(response)
    if (String(id).startsWith(OWN_RESPONSE) && status !== 'failed') onResponse(fieldsOrNone(response))
  }
  return {
    isGone: receiver.isGone,
    onGone: receiver.onGone,
    reason: receiver.reason,
    hasLeft: receiver.hasLeft,
    onSent: receiver.onSent,
    beat: receiver.beat,
    isSole: receiver.isSole,
    hold: receiver.hold,
    start: receiver.start,
    watch: receiver.watch,
    paid: receiver.paid,
    head: receiver.head,
    onDrain: receiver.onDrain,
    drop: receiver.drop,
    whole(status, headers, bytes) {
      if (bytes.includes(OWN)) {
        if (bytes.includes('\ndata: ')) look(bytes)
        else note(parseJson(String(bytes)))
      }
      receiver.whole(status, headers, bytes)
    },
    write(bytes) {
      look(bytes)
      return receiver.write(bytes)
    },
    end(bytes) {
      if (bytes !== undefined) look(bytes)
      receiver.end(bytes)
    },
  } as Receiver
}
