import type { KeptResponses } from '../../src/conversations/kept-responses.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { ModelBody } from '../../src/inference/admit/admit.ts'
import { LAST_EVENTS } from '../../src/inference/api/finish-reason.ts'
import { OWN_RESPONSE } from '../../src/inference/api/own-response.ts'
import { continuedRequest, itemsOf, sendable } from '../../src/inference/continue/continued-request.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import { eventData } from '../../src/inference/observe/event-data.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import type { ClientRequest } from '../../src/inference/relay/request-body.ts'
import { parseJson } from '../../src/text/json.ts'
import { fieldsOrNone } from '../../src/text/lenient-reader.ts'
import type { Fields } from '../../src/text/typed-reader.ts'
import { splitEvents } from '../../src/wire/whole-events.ts'
import { type Ask, createAsk } from './routes/chat-completions-route.ts'

/** Creates the function that asks for Responses. */
export const responsesAsk = (calls: OpenCalls, gateway: Gateway): Ask =>
  continuedAsk(createAsk(calls, gateway, '/responses'), gateway.keptResponses)

/**
 * Continues Responses that Gazeway made of chat completions or Messages, whose upstreams store nothing: the request is
 * sent with the conversation that it continues, and the answer is kept for the next one, unless `store` is false.
 */
const continuedAsk =
  (ask: Ask, kept: KeptResponses): Ask =>
  async (request, receiver, context) => {
    const { previous_response_id: id, store } = request.json
    const owner = context.callerId
    const earlier = typeof id === 'string' ? await kept.find(id, owner) : null
    const whole = earlier === null ? request : written(continuedRequest(request.json, earlier))
    if (store === false || typeof whole.json.previous_response_id === 'string') return ask(whole, receiver, context)
    const keep = ({ id: made, output }: Fields) =>
      void kept.keep(String(made), owner, [...itemsOf(whole.json.input), ...sendable(output)])
    return ask(whole, watchOwn(receiver, keep), context)
  }

function written(json: Fields): ClientRequest<ModelBody> {
  const text = JSON.stringify(json)
  return { bytes: Buffer.from(text), text, json: json as ModelBody }
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
