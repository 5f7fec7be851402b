import type OpenAI from 'openai'
import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import { readUsage } from '../providers/usage.ts'
import { completeChat, modelTold } from './chat.ts'
import { type ResponseObject, toResponse } from './convert/chat-to-response.ts'
import { type ResponseRequest, toChatRequest } from './convert/responses-to-chat.ts'
import { badReply } from './failure.ts'
import { type Attempt, type Invoked, invoke, type Outcome, type UpstreamDeps } from './invoke.ts'
import { fallbackModel, modelFor } from './model-for.ts'
import { refusedField } from './refused-field.ts'
import { ReportedError, readReported, reportedIn } from './reported-error.ts'
import { outputText } from './response-texts.ts'
import { streamedReply, unaskedEvents } from './streamed.ts'
import { streamedOutput } from './streamed-output.ts'

/** Which endpoint answered: the responses endpoint, or chat completions with the fallback model in its place. */
export type Route = 'responses' | 'chat_fallback'

/** A Response with the record of its call. */
export type RespondResult = Omit<Invoked<ResponseObject>, 'httpStatus' | 'answer'> & { route: Route; model: string }

/**
 * Asks the responses endpoint, and where it fails before its first text, chat completions with the fallback model.
 * If that fails too, the first error is thrown. Both calls are recorded, the second with `fallback_from`.
 *
 * Always streams: research takes minutes, and of an answer in one piece nothing is heard until it is complete.
 *
 * @throws GazewayError `upstream_not_configured` without a key, `cancelled`, `service_stopping`, else of the kinds in `failure.ts`
 */
export async function respond(
  deps: UpstreamDeps,
  request: ResponseRequest,
  context: CallContext,
): Promise<RespondResult> {
  deps.provider.requireKey()
  let outputBegan = false
  try {
    return await ask(deps, request, context, () => {
      outputBegan = true
    })
  } catch (error) {
    if (!(error instanceof GazewayError) || isEnded(error) || outputBegan) throw error
    return await fallBack(deps, request, context, error)
  }
}

async function ask(
  deps: UpstreamDeps,
  request: ResponseRequest,
  context: CallContext,
  onOutput: () => void,
): Promise<RespondResult> {
  const { provider } = deps
  const model = await modelFor(deps, request.model, 'primary', context)
  const body = { ...request, model: model.upstream }
  const invocation = { path: '/responses', model, stream: true, request: body }
  const invoked = await invoke(deps, invocation, context, async (attempt): Promise<Outcome<ResponseObject>> => {
    const response = await streamed(attempt, body, onOutput)
    const usage = readUsage(response?.usage)
    attempt.used(() => usage)
    if (response?.status === 'failed')
      throw new ReportedError(response.error?.message ?? 'no reason given', response.error?.code)
    if (!Array.isArray(response?.output)) throw reportedIn(response) ?? badReply(provider, 'the response has no output')
    if (UNFINISHED.has(response.status ?? '')) throw badReply(provider, `the response is ${response.status}`)
    if (saysNothing(response)) throw badReply(provider, 'the response says nothing')
    const answer = outputText(response)
    return { value: { ...response, output_text: answer }, httpStatus: 200, usage, answer }
  })
  return { ...invoked, route: 'responses', model: modelTold(invoked.value.model, model.upstream) }
}

async function fallBack(
  deps: UpstreamDeps,
  request: ResponseRequest,
  context: CallContext,
  first: GazewayError,
): Promise<RespondResult> {
  const model = fallbackModel(deps.provider, request.model)
  const chat = { ...toChatRequest(request, refusedField(first.cause)), model }
  try {
    const result = await completeChat(deps, chat, context, { role: 'fallback', fallbackFrom: first.callId })
    const response = toResponse(result.value, request)
    if (saysNothing(response)) throw first
    return { ...result, value: { ...response, output_text: outputText(response) }, route: 'chat_fallback' }
  } catch (second) {
    if (second instanceof GazewayError && isEnded(second)) throw second
    throw first
  }
}

type Body = ResponseRequest & { model: string }

async function whole({ client, signal }: Attempt, body: Body): Promise<ResponseObject | undefined> {
  const asked = client.responses.create(body, { signal })
  const events = await unaskedEvents(asked)
  if (events === null) return asked
  const output = streamedOutput()
  for (const event of events) {
    output.push(event)
    if (event.type === 'error') throw readReported(event.error ?? event)
    if (ENDS.has(event.type ?? '')) return event.response && output.complete(event.response as ResponseObject)
  }
  throw new Error('The stream ended without a final response event.')
}

async function streamed(attempt: Attempt, body: Body, onOutput: () => void): Promise<ResponseObject | undefined> {
  const { client, signal, text, step } = attempt
  const reply = await streamedReply<OpenAI.Responses.ResponseStreamEvent, ResponseObject | undefined>(
    client.responses.create({ ...body, stream: true }, { signal }),
    () => whole(attempt, body),
  )
  if ('whole' in reply) return reply.whole
  const output = streamedOutput()
  for await (const event of reply.pieces) {
    output.push(event)
    if (event.type === 'response.output_text.delta') {
      onOutput()
      text(event.delta)
    } else step(stepIn(event))
    if (event.type === 'error') throw new ReportedError(event.message, event.code)
    if (ENDS.has(event.type) && 'response' in event) return event.response && output.complete(event.response)
  }
  throw new Error('The stream ended without a final response event.')
}

/** No answer is in these, and none follows: it was not asked for in the background. */
const UNFINISHED = new Set(['queued', 'in_progress', 'cancelled'])
const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Whether nobody waits for another answer: the client has gone, or the service stops. */
const isEnded = ({ code }: GazewayError): boolean => code === 'cancelled' || code === 'service_stopping'

/** Whether there is nothing to read in an answer, such as one that only calls a function; one that was cut is short of tokens. */
const saysNothing = (response: ResponseObject): boolean =>
  response.status !== 'incomplete' && outputText(response) === ''

/** What a model does, by an event that is no text. */
function stepIn(event: OpenAI.Responses.ResponseStreamEvent): string {
  const kind = String('item' in event ? event.item?.type : event.type)
  if (kind.includes('web_search')) return 'searching the web'
  if (kind.includes('search')) return 'searching'
  return kind.includes('reasoning') ? 'thinking' : 'working'
}
