import type { Behaviour, Received } from './upstream.ts'
import { chunks, completion, json, sse } from './upstream.ts'

type Message = { role: string; content?: unknown; tool_call_id?: string; tool_calls?: Call[] | undefined }
type Call = { id: string; function: { name: string; arguments: string } }
type Body = Record<string, unknown> & { messages: Message[]; stream?: boolean }

/** Reason why a server refuses a request, and the field at fault. Null when it accepts it. */
export type Rule = (body: Body) => { message: string; status?: number; param?: string } | null

/** A Qwen template in vLLM and llama.cpp: https://github.com/vllm-project/vllm/issues/41114 */
export const systemAtBeginning: Rule = ({ messages }) =>
  messages.some(({ role }, index) => role === 'system' && index > 0)
    ? { message: 'System message must be at the beginning.' }
    : null

/** Chat templates of Gemma and Mistral: https://github.com/vllm-project/vllm/issues/6862 */
export const alternatingRoles: Rule = ({ messages }) =>
  messages.some(({ role }, at) => at > 0 && role !== 'tool' && role === messages[at - 1]?.role)
    ? { message: 'Conversation roles must alternate user/assistant/user/assistant/...' }
    : null

/** Mistral: https://github.com/mistralai/mistral-common/issues/169 */
export const answerAfterTool: Rule = ({ messages }) =>
  messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
    ? { message: "Unexpected role 'user' after role 'tool'" }
    : null

/** Servers that read content as a text: https://github.com/BerriAI/litellm/issues/6642 */
export const plainContent: Rule = ({ messages }) => {
  const at = messages.findIndex(({ content }) => Array.isArray(content))
  return at < 0
    ? null
    : {
        message: `Failed to deserialize the JSON body into the target type: messages[${at}]: invalid type: sequence, expected a string at line 1 column 40`,
        status: 422,
      }
}

/** LM Studio: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261 */
export const someContent: Rule = ({ messages }) =>
  messages.some(({ content }) => (content ?? null) === null)
    ? { message: "Invalid 'content': 'content' field must be a string or an array of objects." }
    : null

/** OpenAI: https://github.com/openai/openai-node/pull/1341 */
export const noEmptyLists: Rule = ({ messages, tools }) => {
  const empty = 'empty array. Expected an array with minimum length 1, but got an empty array instead.'
  if (Array.isArray(tools) && tools.length === 0) return { message: `Invalid 'tools': ${empty}` }
  const at = messages.findIndex(({ tool_calls }) => tool_calls?.length === 0)
  return at < 0 ? null : { message: `Invalid 'messages[${at}].tool_calls': ${empty}` }
}

const MESSAGE_FIELDS = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning_content', 'reasoning']

/** Groq: https://github.com/run-llama/llama_index/issues/14701 */
export const knownMessageFields: Rule = ({ messages }) => {
  for (const [at, message] of messages.entries()) {
    const odd = Object.keys(message).find((name) => !MESSAGE_FIELDS.includes(name))
    if (odd !== undefined)
      return {
        message: `'messages.${at}' : for 'role:${message.role}' the following must be satisfied[('messages.${at}' : property '${odd}' is unsupported)]`,
      }
  }
  return null
}

/** Gemini. */
export const uniqueFunctions: Rule = ({ tools }) => {
  const names = ((tools ?? []) as { function?: { name: string } }[]).map(({ function: called }) => called?.name)
  const double = names.find((name, at) => names.indexOf(name) !== at)
  return double === undefined ? null : { message: `Duplicate function declaration found: ${double}` }
}

/** DeepSeek in the thinking mode: https://github.com/tickernelz/opencode-mem/issues/253 */
export const freeChoice: Rule = ({ tool_choice, thinking }) =>
  ['auto', 'none', undefined].includes(tool_choice as string) || (thinking as { type?: string })?.type === 'disabled'
    ? null
    : { message: 'Thinking mode does not support this tool_choice' }

/** A template of Gemma, which has no system role. */
export const noSystemRole: Rule = ({ messages }) =>
  messages.some(({ role }) => role === 'system') ? { message: 'System role not supported', status: 500 } : null

/** OpenAI: each call is followed by its result, and each result follows its call. */
export const pairedTools: Rule = ({ messages }) => {
  let open: string[] = []
  for (const [index, { role, tool_calls, tool_call_id }] of messages.entries()) {
    if (role === 'tool') {
      if (!open.includes(tool_call_id as string))
        return {
          message:
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param: `messages.[${index}].role`,
        }
      open = open.filter((id) => id !== tool_call_id)
      continue
    }
    if (open.length > 0) break
    open = (tool_calls ?? []).map(({ id }) => id)
  }
  return open.length === 0
    ? null
    : {
        message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open}`,
      }
}

/** OpenAI: ids of calls have at most 40 characters. */
export const shortIds: Rule = ({ messages }) => {
  const long = messages.flatMap(({ tool_calls }) => tool_calls ?? []).find(({ id }) => id.length > 40)
  return long === undefined
    ? null
    : {
        message: `Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length ${long.id.length} instead.`,
      }
}

/** vLLM parses the arguments of earlier calls. */
export const parsedArguments: Rule = ({ messages }) => {
  for (const { function: called } of messages.flatMap(({ tool_calls }) => tool_calls ?? []))
    try {
      JSON.parse(called.arguments)
    } catch {
      return { message: 'Unterminated string starting at: line 1 column 10 (char 9)' }
    }
  return null
}

const schemasIn = ({ tools }: Body): Record<string, unknown>[] =>
  ((tools ?? []) as { function?: { parameters?: Record<string, unknown> } }[]).flatMap(({ function: called }) =>
    called?.parameters === undefined ? [] : [called.parameters],
  )

const UNIONS = ['anyOf', 'oneOf', 'allOf']

/** OpenAI: parameters are an object with properties, and no union at the top. */
export const objectSchemas: Rule = (body) => {
  const fault = schemasIn(body).find(
    (schema) => UNIONS.some((name) => name in schema) || schema.type !== 'object' || !('properties' in schema),
  )
  if (fault === undefined) return null
  return UNIONS.some((name) => name in fault)
    ? {
        message:
          "Invalid schema for function 'look': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
        param: 'tools[0].function.parameters',
      }
    : { message: "Invalid schema for function 'look': In context=(), object schema missing properties." }
}

/** Gemini's compatible endpoint knows a subset of JSON Schema. */
export const fewKeywords: Rule = (body) =>
  JSON.stringify(schemasIn(body)).includes('"additionalProperties"')
    ? {
        message:
          'Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0]\': Cannot find field.',
      }
    : null

/** OpenAI's reasoning models. */
export const noTemperature: Rule = (body) =>
  body.temperature === undefined
    ? null
    : {
        message:
          "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        param: 'temperature',
      }

/** OpenAI takes no fields that it does not know. */
export const knownFields: Rule = (body) =>
  'top_k' in body ? { message: 'Unrecognized request argument supplied: top_k' } : null

/** Groq, which knows no marks for a cache. */
export const noCacheMarks: Rule = ({ messages }) =>
  JSON.stringify(messages).includes('"cache_control"')
    ? {
        message:
          "'messages.0' : for 'role:user' the following must be satisfied[property 'cache_control' is unsupported]",
      }
    : null

/** LM Studio. */
export const noJsonObject: Rule = ({ response_format }) =>
  (response_format as { type?: string } | undefined)?.type === 'json_object'
    ? { message: "'response_format.type' must be 'json_schema' or 'text'" }
    : null

/** Servers that read the URL of an image as an object. */
export const imageObjects: Rule = ({ messages }) =>
  messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ image_url: url }) => typeof url === 'string'),
  )
    ? { message: 'Input should be a valid dictionary or object to extract fields from: image_url', status: 422 }
    : null

/** Qwen's thinking models at Alibaba answer by streams alone. */
export const streamsAlone: Rule = ({ stream }) =>
  stream === true ? null : { message: 'This model only support stream mode, streaming is required.' }

/** Answers a chat completion when it breaks no rule, and refuses it by the first that it breaks. */
export const strictChat =
  (...rules: Rule[]): Behaviour =>
  (response, request: Received) => {
    const body = request.body as Body
    for (const rule of rules) {
      const fault = rule(body)
      if (fault === null) continue
      const { message, status = 400, param = null } = fault
      return json(status, { error: { message, type: 'invalid_request_error', param, code: null } })(response, request)
    }
    return (body.stream === true ? sse(chunks(['Hello'])) : json(200, completion('Hello')))(response, request)
  }

/** Models that do not reason: OpenAI's, and those of Ollama, which say `think`. */
export const noEffort: Rule = (body) =>
  'reasoning_effort' in body
    ? {
        message: "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        param: 'reasoning_effort',
      }
    : null

/** Ollama. */
export const noThinking: Rule = (body) =>
  'reasoning_effort' in body ? { message: '"llama3.2" does not support thinking' } : null

/** Groq. */
export const noReasoningBack: Rule = ({ messages }) => {
  const at = messages.findIndex((message) => 'reasoning_content' in message)
  return at < 0
    ? null
    : {
        message: `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property 'reasoning_content' is unsupported)]`,
      }
}

/** Claude behind OpenRouter. */
export const ownDetails: Rule = ({ messages }) =>
  messages.some((message) => 'reasoning_details' in message)
    ? { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' }
    : null
