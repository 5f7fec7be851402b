import * as z from 'zod'
import { AnsweredId, ConversationId } from '../src/conversations/conversations.ts'
import { type IncompleteReason, incompleteReason } from '../src/inference/api/finish-reason.ts'
import { Usage } from '../src/providers/token-usage.ts'
import { LIST_LIMIT } from '../src/wire/validation.ts'
import { defineTool } from './tool.ts'

/** OpenAI's chat message; fields that a provider adds are passed on. */
const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })).max(LIST_LIMIT)]).nullish(),
})

export const chatCompletion = defineTool({
  name: 'gateway_chat_completion',
  title: 'Chat with a model',
  description:
    "Send messages to an upstream model, in OpenAI's chat format with tools, response_format and images. Use it for a " +
    'summary, a transformation or a model of your choice. It does not search and does not know the project: ' +
    'gateway_llm_query does. Costs money. Example: messages [{"role":"user","content":"Name this function: …"}].',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  isLarge: true,
  input: z.strictObject({
    messages: z.array(Message).min(1).max(1000),
    model: z.string().min(1).max(256).optional().describe('Defaults to the configured chat model'),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    max_tokens: z.int().min(1).max(1_000_000).optional().describe('Longest answer, in tokens'),
    stop: z.union([z.string(), z.array(z.string()).max(4)]).optional(),
    response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .max(128)
      .optional(),
    conversation_id: ConversationId,
    tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })]).optional(),
  }),
  output: z.object({
    message: z.looseObject({ role: z.string(), content: z.string().nullable() }),
    model: z.string(),
    finish_reason: z.string().nullable(),
    usage: Usage.nullable(),
    cost_usd: z.number(),
    conversation_id: AnsweredId,
    call_id: z.string(),
    upstream: z.string(),
  }),
  async run(gateway, input, context) {
    const { conversation_id, ...request } = input
    const conversation = await gateway.conversations.open(conversation_id, context.memoryOwner ?? null)
    // The schema checks what Gazeway needs. The upstream validates the rest.
    const messages = [...conversation.messages, ...request.messages]
    const result = await gateway.upstream.chat({ ...request, messages } as never, context)
    const choice = result.value.choices[0]
    const message = { ...choice?.message, role: 'assistant', content: choice?.message.content ?? null }
    return {
      message,
      model: result.model,
      finish_reason: choice?.finish_reason ?? null,
      usage: result.usage,
      cost_usd: result.costUsd,
      conversation_id: await conversation.keep([...request.messages, message]),
      call_id: result.callId,
      upstream: gateway.upstream.provider.name,
    }
  },
  render({ message, finish_reason }) {
    const { content, refusal, tool_calls } = message
    const refused = typeof refusal === 'string' && refusal !== '' ? `The model refused: ${refusal}` : ''
    const calls = Array.isArray(tool_calls) ? `Tool calls: ${JSON.stringify(tool_calls)}` : ''
    const parts = [content, refused, calls].filter(Boolean)
    const cut = incompleteReason(finish_reason)
    const whole = parts.length === 0 ? '(the model returned nothing)' : ''
    const ending = cut === null ? whole : ENDINGS[cut]
    return [...parts, ending].filter(Boolean).join('\n\n')
  },
})

/** Notices about incomplete answers. */
const ENDINGS: Readonly<Record<IncompleteReason, string>> = {
  max_output_tokens: '(cut off at max_tokens or at the limit of the model)',
  content_filter: "(withheld or cut off by the provider's content filter)",
}
