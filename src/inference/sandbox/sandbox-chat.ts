import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import * as z from 'zod'
import { LIST_LIMIT } from '../../wire/validation.ts'
import { type Answer, answer, idFrom, type Question } from './answer.ts'
import type { Turn } from './conversation.ts'
import { Content, contentText, parseRequest, SchemaObject } from './request.ts'
import { jsonReply, sseFrame, sseReply } from './sandbox-reply.ts'
import { streamPieces } from './tokens.ts'
import type { ToolChoice } from './tool-choice.ts'

const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Content.nullish(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }) }))
    .max(LIST_LIMIT)
    .nullish(),
  tool_call_id: z.string().optional(),
})

const FunctionName = z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) })

const ChatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(Message).max(LIST_LIMIT).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.literal(1, 'the sandbox returns one choice').nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function'),
        function: z.looseObject({
          name: z.string().min(1),
          description: z.string().nullish(),
          parameters: SchemaObject.nullish(),
        }),
      }),
    )
    .max(LIST_LIMIT)
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      FunctionName,
      z.looseObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.looseObject({
          mode: z.enum(['auto', 'required']),
          tools: z.array(FunctionName).max(LIST_LIMIT),
        }),
      }),
    ])
    .nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({
        type: z.literal('json_schema'),
        json_schema: z.looseObject({ schema: SchemaObject.optional() }),
      }),
    ])
    .nullish(),
})

type ChatRequest = z.infer<typeof ChatRequest>

/**
 * Serves `POST /v1/chat/completions`: a `chat.completion`, or its chunks as server-sent events.
 *
 * @throws GazewayError `invalid_request` naming the field at fault
 */
export function completeChat(request: Request, body: unknown, seed: string): Response {
  const chat = parseRequest(ChatRequest, body)
  const answered = answer(questionFrom(chat, seed))
  const completion = completionFrom(chat.model, answered, seed)
  if (!chat.stream) return jsonReply(completion)
  return sseReply(request, chunks(completion, chat.stream_options?.include_usage === true))
}

function questionFrom(chat: ChatRequest, seed: string): Question {
  return {
    turns: chat.messages.flatMap(turnsFrom),
    param: 'messages',
    tools: (chat.tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? '',
      parameters: parameters ?? {},
    })),
    choice: choiceFrom(chat.tool_choice),
    searchTools: [],
    format: formatFrom(chat.response_format),
    stop: [chat.stop ?? []].flat().filter((sequence) => sequence !== ''),
    maxTokens: chat.max_completion_tokens ?? chat.max_tokens ?? undefined,
    seed,
  }
}

function turnsFrom(message: z.infer<typeof Message>): Turn[] {
  const text = contentText(message.content)
  if (message.role === 'tool') return [{ role: 'result', callId: message.tool_call_id ?? '', text }]
  const calls = (message.tool_calls ?? []).map(
    (call): Turn => ({ role: 'call', callId: call.id, tool: call.function.name }),
  )
  const role = message.role === 'developer' ? 'system' : message.role
  return text === '' ? calls : [{ role, text }, ...calls]
}

function choiceFrom(choice: ChatRequest['tool_choice']): ToolChoice {
  if (!choice) return { mode: 'auto', names: null }
  if (typeof choice === 'string') return { mode: choice, names: null }
  if (choice.type === 'function') return { mode: 'required', names: [choice.function.name] }
  const { mode, tools } = choice.allowed_tools
  return { mode, names: tools.map((tool) => tool.function.name) }
}

function formatFrom(format: ChatRequest['response_format']): Question['format'] {
  if (format?.type === 'json_schema')
    return { type: 'json_schema', schema: format.json_schema.schema ?? { type: 'object' } }
  return { type: format?.type ?? 'text' }
}

function completionFrom(model: string, { text, call, cut, usage }: Answer, seed: string): ChatCompletion {
  const finished = call ? 'tool_calls' : 'stop'
  return {
    id: `chatcmpl-${idFrom(seed)}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: call ? null : text,
          refusal: null,
          ...(call && {
            tool_calls: [{ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }],
          }),
        },
        logprobs: null,
        finish_reason: cut ? 'length' : finished,
      },
    ],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    system_fingerprint: 'sandbox',
  }
}

/** Streams a completion. `withUsage` adds the final chunk without choices that holds the usage. */
function* chunks(completion: ChatCompletion, withUsage: boolean): Generator<string> {
  const { id, created, model, usage } = completion
  const [choice] = completion.choices
  const frame = (choices: ChatCompletionChunk['choices'], used: ChatCompletion['usage'] | null = null) =>
    sseFrame({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      system_fingerprint: 'sandbox',
      choices,
      ...(withUsage && { usage: used }),
    })
  const delta = (
    part: ChatCompletionChunk.Choice.Delta,
    finished: ChatCompletionChunk.Choice['finish_reason'] = null,
  ) => frame([{ index: 0, delta: part, logprobs: null, finish_reason: finished }])

  const message = choice?.message
  yield delta({ role: 'assistant', content: message?.content === null ? null : '', refusal: null })
  for (const piece of streamPieces(message?.content ?? '')) yield delta({ content: piece })
  for (const [index, call] of (message?.tool_calls ?? []).entries()) {
    if (call.type !== 'function') continue
    yield delta({
      tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }],
    })
    for (const piece of streamPieces(call.function.arguments)) {
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  yield delta({}, choice?.finish_reason ?? 'stop')
  if (withUsage) yield frame([], usage)
  yield sseFrame('[DONE]')
}
