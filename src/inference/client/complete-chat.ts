import type OpenAI from 'openai'
import type { CallContext } from '../../calls/call-record.ts'
import type { PaidContext } from '../admit/bill.ts'
import type { ChatCompletion, ChatRequest } from '../api/requests.ts'
import { chatText, isThinking } from '../observe/chat-text.ts'
import { joinChunks } from '../observe/join-chunks.ts'
import { reportedModel } from '../passages/passage.ts'
import { badReply } from '../upstreams/failure.ts'
import { type Made, type ToolDeps, toolCall } from './tool-call.ts'

/** A chat completion with the record of its call. */
export type ChatResult = Made<ChatCompletion>

/**
 * Completes a chat. Streams from the upstream when the caller listens for text.
 *
 * @throws GazewayError as `toolCall`
 */
export async function completeChat(deps: ToolDeps, request: ChatRequest, context: PaidContext): Promise<ChatResult> {
  // Without a model, the configured one is used.
  const body = request as ChatRequest & { model: string }
  const asked = { endpoint: '/chat/completions', needsText: false } as const
  const made = await toolCall(deps, asked, context, (client) =>
    context.onText ? streamed(client, body, context) : client.chat.completions.create(body),
  )
  const message = made.value.choices?.[0]?.message
  if (!message) {
    const error = badReply(made.provider, 'the chat completion has no message')
    error.callId = made.callId
    throw error
  }
  message.content = textOf(message.content)
  return { ...made, model: reportedModel(made.value.model, made.model) }
}

/** Text of a message. Some providers send a list of parts, as in requests. */
const textOf = (content: unknown): string | null =>
  typeof content === 'string' || Array.isArray(content) ? chatText(content) : null

async function streamed(
  client: OpenAI,
  body: ChatRequest & { model: string },
  { onText, onStep }: CallContext,
): Promise<ChatCompletion> {
  // The client's own helper also parses tool arguments and structured output, and fails when it cannot.
  const joined = joinChunks()
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
    joined.push(chunk)
    const [first] = chunk.choices ?? []
    if (first?.index !== 0 || !first.delta) continue
    const text = chatText(first.delta.content)
    if (text !== '') onText?.(text)
    else if (first.delta.tool_calls) onStep?.('calling a tool')
    else if (isThinking(first.delta)) onStep?.('thinking')
  }
  return joined.completion()
}
