import type OpenAI from 'openai'
import type { CallContext } from '../calls/call-record.ts'
import { readUsage } from '../providers/usage.ts'
import { chatReasoning, chatText } from './convert/response-items.ts'
import { badReply } from './failure.ts'
import { type Attempt, type Invoked, invoke, type Outcome, type UpstreamDeps } from './invoke.ts'
import { joinChunks } from './join-chunks.ts'
import { modelFor } from './model-for.ts'
import type { ModelRole, Provider } from './provider.ts'
import { refusedField } from './refused-field.ts'
import { reportedIn } from './reported-error.ts'
import { streamedReply, unaskedEvents } from './streamed.ts'
import { isRenamed } from './token-limits.ts'
import { askForUsage } from './usage-request.ts'

/** A chat request of the tools; without a model, the one that is configured answers. */
export type ChatRequest = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'> & { model?: string }
export type ChatCompletion = OpenAI.Chat.ChatCompletion

/** A chat completion with the record of its call. */
export type ChatResult = Invoked<ChatCompletion> & { model: string }

/**
 * A chat completion. Streams from the upstream where the caller wants to hear the text as it comes.
 *
 * @param options.role whose model answers when the request names none
 * @throws GazewayError `upstream_not_configured` without a key, else of the kinds in `failure.ts`
 */
export async function completeChat(
  deps: UpstreamDeps,
  request: ChatRequest,
  context: CallContext,
  options: { role?: ModelRole; fallbackFrom?: string | undefined } = {},
): Promise<ChatResult> {
  const { provider } = deps
  provider.requireKey()
  const model = await modelFor(deps, request.model, options.role ?? 'chat', context)
  const stream = context.onText !== undefined
  const body = { ...request, model: model.upstream }
  const invocation = { path: '/chat/completions', model, stream, fallbackFrom: options.fallbackFrom, request: body }
  const invoked = await invoke(deps, invocation, context, async (attempt): Promise<Outcome<ChatCompletion>> => {
    const asked = stream ? streamed : whole
    const completion = await asked(attempt, provider.limits.named(body), provider).catch((error: unknown) => {
      if (!(error instanceof Error && isRenamed(refusedField(error), error.message))) throw error
      provider.limits.renamed(model.upstream)
      return asked(attempt, provider.limits.named(body), provider)
    })
    const usage = readUsage(completion?.usage)
    attempt.used(() => usage)
    const reported = reportedIn(completion)
    if (reported) throw reported
    const message = completion?.choices?.[0]?.message
    if (!message) throw badReply(provider, 'the chat completion has no message')
    message.content = textOf(message.content)
    const answer = (message.content ?? '') + JSON.stringify(message.tool_calls ?? [])
    return { value: completion, httpStatus: 200, usage, answer }
  })
  return { ...invoked, model: modelTold(invoked.value.model, model.upstream) }
}

/** The model that a reply names, whatever it holds there; the one that was asked for where it names none. */
export const modelTold = (told: unknown, asked: string): string =>
  typeof told === 'string' && told !== '' ? told : asked

/** What a message says: some providers send a list of parts, as requests have it. */
const textOf = (content: unknown): string | null =>
  typeof content === 'string' || Array.isArray(content) ? chatText(content) : null

type Body = ChatRequest & { model: string }

async function whole({ client, signal }: Attempt, body: Body): Promise<ChatCompletion> {
  const asked = client.chat.completions.create(body, { signal })
  const events = await unaskedEvents(asked)
  if (events === null) return asked
  const joined = joinChunks()
  for (const event of events) {
    const reported = reportedIn(event)
    if (reported) throw reported
    joined.push(event)
  }
  return joined.completion()
}

async function streamed(attempt: Attempt, body: Body, provider: Provider): Promise<ChatCompletion> {
  const { client, signal, text, step } = attempt
  // The client's own helper joins chunks too, but reads tool arguments and structured output, and fails where it cannot.
  const reply = await askForUsage(provider.usageRequests, body.model, (fields) =>
    streamedReply<OpenAI.Chat.ChatCompletionChunk, ChatCompletion>(
      client.chat.completions.create({ ...body, ...fields, stream: true }, { signal }),
      () => whole(attempt, body),
    ),
  )
  if ('whole' in reply) return reply.whole
  const joined = joinChunks()
  for await (const chunk of reply.pieces) {
    const reported = reportedIn(chunk)
    if (reported) throw reported
    joined.push(chunk)
    const [first] = chunk.choices ?? []
    if (first?.index !== 0 || !first.delta) continue
    const said = chatText(first.delta.content)
    if (said !== '') text(said)
    else if (first.delta.tool_calls) step('calling a tool')
    else if (chatReasoning(first.delta) !== '') step('thinking')
  }
  return joined.completion()
}
