import type OpenAI from 'openai'
import type { CallContext } from '../../calls/call-record.ts'
import type { PaidContext } from '../admit/bill.ts'
import { isAnswerEnd } from '../api/finish-reason.ts'
import type { ResponseRequest } from '../api/requests.ts'
import type { ResponseObject } from '../convert/chat-to-response.ts'
import { lackOf, outputText } from '../observe/response-texts.ts'
import { streamedOutput } from '../observe/streamed-output.ts'
import { reportedModel } from '../passages/passage.ts'
import { endedEarly } from '../upstreams/failure.ts'
import { type Made, type ToolDeps, toolCall } from './tool-call.ts'

/** Endpoint that answered: the responses endpoint, or chat completions with the fallback model. */
export type Route = 'responses' | 'chat_fallback'

/** A Response with the record of its call. */
export type RespondResult = Made<ResponseObject> & { route: Route }

/**
 * Asks the responses endpoint for text. When it fails before its first text, chat completions answers with the fallback
 * model. When both fail, the first error is thrown.
 *
 * Always streams, because research takes minutes and a reply that is not streamed is silent until the end.
 *
 * @throws GazewayError as `toolCall`
 */
export async function respond(deps: ToolDeps, request: ResponseRequest, context: PaidContext): Promise<RespondResult> {
  const asked = { endpoint: '/responses', needsText: true } as const
  const { value, ...made } = await toolCall(deps, asked, context, (client) => streamed(client, request, context))
  const fault = value ? lackOf(value, made.provider) : endedEarly(made.provider)
  if (fault) fault.callId = made.callId
  if (!value || fault) throw fault
  const route = made.path === '/responses' ? 'responses' : 'chat_fallback'
  const response = { ...value, output_text: outputText(value) }
  return { ...made, value: response, route, model: reportedModel(value.model, made.model) }
}

/**
 * Streams a Response.
 *
 * @returns the Response that ends the stream; undefined without one
 */
async function streamed(
  client: OpenAI,
  request: ResponseRequest,
  { onText, onStep }: CallContext,
): Promise<ResponseObject | undefined> {
  const output = streamedOutput()
  let last: ResponseObject | undefined
  // Without a model, the configured one is used.
  const body = request as ResponseRequest & { model: string }
  for await (const event of await client.responses.create({ ...body, stream: true })) {
    output.push(event)
    if (event.type === 'response.output_text.delta') onText?.(event.delta)
    else onStep?.(stepIn(event))
    if (isAnswerEnd(event.type) && 'response' in event) last = event.response && output.complete(event.response)
  }
  return last
}

/** Activity of a model, by an event that is not text. */
function stepIn(event: OpenAI.Responses.ResponseStreamEvent): string {
  const kind = String('item' in event ? event.item?.type : event.type)
  if (kind.includes('web_search')) return 'searching the web'
  if (kind.includes('search')) return 'searching'
  return kind.includes('reasoning') ? 'thinking' : 'working'
}
