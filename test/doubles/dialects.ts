import { message, messageStream, named } from './anthropic.ts'
import * as strict from './strict.ts'
import { type Behaviour, json, type Received, response, responseEvents, sse } from './upstream.ts'

type Fields = Record<string, unknown>

const list = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : [])
const partsOf = (messages: unknown): Fields[] => list(messages).flatMap(({ content }) => list(content))

/** OpenAI: a name of a function has at most 64 letters, digits, `_` and `-`. */
const functionNames: strict.Rule = ({ tools }) => {
  const at = list(tools).findIndex(
    (tool) => !/^[\w-]{1,64}$/.test(String(((tool.function ?? tool.custom) as Fields)?.name)),
  )
  return at < 0
    ? null
    : {
        message: `Invalid 'tools[${at}].function.name': string does not match pattern.`,
        param: `tools[${at}].function.name`,
      }
}

/** OpenAI: `strict` needs `additionalProperties: false`. */
const strictSchemas: strict.Rule = ({ tools }) =>
  list(tools).some(({ function: called }) => {
    const { strict: isStrict, parameters } = (called ?? {}) as { strict?: boolean; parameters?: Fields }
    return isStrict === true && parameters?.additionalProperties !== false
  })
    ? {
        message:
          "Invalid schema for function: In context=(), 'additionalProperties' is required to be supplied and to be false.",
      }
    : null

const PDF_ALONE =
  "Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,SGVsbG8='), but got unsupported MIME type 'image/png'."
const isImageData = (data: unknown): boolean => String(data).startsWith('data:image/')

/** OpenAI: a part of a message is text, image, audio or file, and a file is a PDF. */
const knownParts: strict.Rule = ({ messages }) => {
  const fault = partsOf(messages).find(
    ({ type, file }) =>
      !['text', 'image_url', 'input_audio', 'file', 'refusal'].includes(String(type)) ||
      (type === 'file' && /^https?:/.test(String((file as Fields).file_data))),
  )
  if (fault !== undefined) return { message: `Invalid value: '${fault.type}'.`, param: 'messages' }
  const image = partsOf(messages).find(({ file }) => isImageData((file as Fields | undefined)?.file_data))
  return image === undefined
    ? null
    : { message: `Invalid file data: 'messages[0].content[0].file.file_data'. ${PDF_ALONE}` }
}

/** Gemini: no turn without words. */
const wordsOnly: strict.Rule = ({ messages }) =>
  messages.some(
    ({ role, content }) => role === 'user' && (content === '' || (Array.isArray(content) && content.length === 0)),
  )
    ? { message: 'Unable to submit request because it must have a non-empty text field in contents.' }
    : null

/** DeepSeek: the content of a message is text. */
const textParts: strict.Rule = ({ messages }) =>
  partsOf(messages).some(({ type }) => type !== 'text')
    ? {
        message:
          'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`',
      }
    : null

/** Mistral: ids of calls have nine letters. */
const nineLetters: strict.Rule = ({ messages }) =>
  messages.some(({ tool_calls }) => (tool_calls ?? []).some(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id)))
    ? { message: 'Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.' }
    : null

/** Servers that know neither the newer role nor the newer name of the limit. */
const noDeveloper: strict.Rule = ({ messages }) =>
  messages.some(({ role }) => role === 'developer') ? { message: 'Unexpected role "developer".' } : null

/** OpenAI's reasoning models. */
const newLimit: strict.Rule = (body) =>
  'max_tokens' in body
    ? {
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param: 'max_tokens',
      }
    : null

/**
 * Gemini 3: the first call of each step of the current turn has the signature that came with it
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const signedSteps: strict.Rule = ({ messages }) => {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  for (const [at, { tool_calls }] of turn.entries()) {
    const [first] = list(tool_calls)
    if (first === undefined) continue
    const { google } = (first.extra_content ?? {}) as { google?: Fields }
    const signature = google?.thought_signature
    if (signature === undefined)
      return {
        message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:look\` , position ${at}.`,
      }
    if (signature !== 'own' && signature !== 'skip_thought_signature_validator')
      return { message: 'Corrupted thought signature.' }
  }
  return null
}

/**
 * DeepSeek in the thinking mode: answers with calls come back with their reasoning in all later requests
 * (https://api-docs.deepseek.com/guides/thinking_mode).
 */
const reasoningBack: strict.Rule = ({ messages }) =>
  messages.some((message) => list(message.tool_calls).length > 0 && !('reasoning_content' in message))
    ? { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' }
    : null

const OPENAI = [
  ...[strict.pairedTools, strict.shortIds, strict.objectSchemas, strict.knownFields, strict.imageObjects],
  ...[functionNames, strictSchemas, knownParts, strict.noEmptyLists],
]

/** Refusals of providers and servers of chat completions, from their references and reports. */
export const DIALECTS = {
  OpenAI: OPENAI,
  'OpenAI, reasoning': [...OPENAI, strict.noTemperature, newLimit],
  DeepSeek: [strict.pairedTools, strict.parsedArguments, textParts],
  'DeepSeek, at first': [strict.plainContent],
  'DeepSeek, thinking': [strict.pairedTools, strict.parsedArguments, textParts, reasoningBack, strict.freeChoice],
  Gemini: [strict.fewKeywords, wordsOnly, strict.pairedTools, strict.uniqueFunctions],
  'Gemini 3': [strict.fewKeywords, wordsOnly, strict.pairedTools, signedSteps],
  'Qwen template': [strict.systemAtBeginning, strict.parsedArguments, noDeveloper],
  'Gemma template': [strict.noSystemRole, strict.alternatingRoles],
  vLLM: [strict.parsedArguments, strict.imageObjects, noDeveloper],
  Mistral: [nineLetters, strict.pairedTools, strict.answerAfterTool],
  Groq: [strict.noCacheMarks, strict.pairedTools, strict.knownMessageFields],
  'LM Studio': [strict.noJsonObject, strict.someContent],
  'Alibaba Cloud': [strict.streamsAlone],
} satisfies Record<string, strict.Rule[]>

/** Name of a dialect of chat completions. */
export type Dialect = keyof typeof DIALECTS

const MESSAGES_FIELDS = new Set(
  (
    'model messages max_tokens system stream temperature top_p top_k stop_sequences tools tool_choice metadata thinking ' +
    'output_config service_tier container mcp_servers context_management'
  ).split(' '),
)
const TYPED = /^(?:bash|text_editor|memory|computer|web_search|web_fetch|code_execution|tool_search_tool)/

/** Reason why Anthropic refuses a request. Null when it accepts it. */
export function refusedByAnthropic(body: Fields, headers: Received['headers']): string | null {
  if (/unknown-beta/.test(String(headers['anthropic-beta'])))
    return 'Unexpected value(s) `unknown-beta` for the `anthropic-beta` header. Please consult our documentation or try again without the header.'
  const odd = Object.keys(body).find((name) => !MESSAGES_FIELDS.has(name))
  if (odd !== undefined) return `${odd}: Extra inputs are not permitted`
  if (typeof body.max_tokens !== 'number') return 'max_tokens: Field required'
  if (Number(body.temperature ?? 0) > 1) return 'temperature: Input should be less than or equal to 1'
  if (body.temperature !== undefined && body.top_p !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
  return toolFault(list(body.tools)) ?? messageFault(list(body.messages)) ?? choiceFault(body) ?? markFault(body)
}

/** Extended thinking: https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
function choiceFault({ tool_choice, thinking }: Fields): string | null {
  const isForced = ['any', 'tool'].includes(String((tool_choice as Fields | undefined)?.type))
  const isThinking = ['enabled', 'adaptive'].includes(String((thinking as Fields | undefined)?.type))
  return isForced && isThinking ? 'Thinking may not be enabled when tool_choice forces tool use.' : null
}

function toolFault(tools: Fields[]): string | null {
  const names = tools.map(({ name }) => name)
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.'
  for (const [at, tool] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name))) return `tools.${at}.custom.name: String should match pattern`
    if (TYPED.test(String(tool.type))) continue
    const schema = tool.input_schema as Fields | undefined
    if (schema === undefined || ['anyOf', 'oneOf', 'allOf'].some((name) => name in schema))
      return `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
    if (schema.type !== 'object') return `tools.${at}.custom.input_schema.type: Field required`
    if ('defer_loading' in tool) return `tools.${at}.custom.defer_loading: Extra inputs are not permitted`
  }
  return null
}

function messageFault(messages: Fields[]): string | null {
  let open: unknown[] = []
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== 'user' && role !== 'assistant') return `messages.${at}.role: Unexpected role "${role}"`
    const results = list(content).filter(({ type }) => type === 'tool_result')
    if (open.some((id) => !results.some(({ tool_use_id }) => tool_use_id === id)))
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}`
    if (results.some(({ tool_use_id }) => !open.includes(tool_use_id)) || results.length > open.length)
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks`
    open = role === 'assistant' ? list(content).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])) : []
    if (content === '' || list(content).some(({ type, text }) => type === 'text' && String(text).trim() === ''))
      return `messages.${at}: text content blocks must be non-empty`
    const end = typeof content === 'string' ? content : list(content).at(-1)?.text
    if (at === messages.length - 1 && role === 'assistant' && /\s$/.test(String(end ?? '')))
      return 'messages: final assistant content cannot end with trailing whitespace'
    const media = list(content).find(({ source }) =>
      /^image\/(?!jpeg$|png$|gif$|webp$)/.test(String((source as Fields)?.media_type)),
    )
    if (
      list(content).some(
        ({ type, source }) => type === 'document' && /^image/.test(String((source as Fields).media_type)),
      )
    )
      return `messages.${at}.content.0.document.source.base64.media_type: Input should be 'application/pdf'`
    if (media !== undefined)
      return `messages.${at}.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`
  }
  // https://github.com/router-for-me/CLIProxyAPI/issues/5319
  if (open.length === 0 && messages.at(-1)?.role === 'assistant')
    return 'This model does not support assistant message prefill. The conversation must end with a user message.'
  return open.length === 0
    ? null
    : `messages.${messages.length - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`
}

function markFault(body: Fields): string | null {
  const marks = JSON.stringify(body).split('"cache_control"').length - 1
  return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : null
}

/** Anthropic's endpoint: refuses what it does not accept, and answers "Hello". */
export const strictMessages: Behaviour = (reply, request) => {
  const body = request.body as Fields
  const fault = refusedByAnthropic(body, request.headers)
  if (fault !== null)
    return json(400, { type: 'error', error: { type: 'invalid_request_error', message: fault } })(reply, request)
  return (body.stream === true ? named(messageStream(['Hello'])) : json(200, message('Hello')))(reply, request)
}

/** Reason why OpenAI refuses a Responses request, and the field. Null when it accepts it. */
function refusedByResponses(body: Fields): { message: string; param: string } | null {
  const calls = list(body.input).flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : []))
  const results = list(body.input).flatMap(({ type, call_id }) => (type === 'function_call_output' ? [call_id] : []))
  const orphan = results.find((id) => !calls.includes(id))
  if (orphan !== undefined)
    return { message: `No tool call found for function call output with call_id ${orphan}.`, param: 'input' }
  const open = calls.find((id) => !results.includes(id))
  if (open !== undefined) return { message: `No tool output found for function call ${open}.`, param: 'input' }
  const files = list(body.input).flatMap(({ content }) => list(content))
  if (files.some(({ file_data }) => isImageData(file_data)))
    return { message: `Invalid file data: 'input[0].content[0].file_data'. ${PDF_ALONE}`, param: 'input' }
  if ('top_k' in body) return { message: "Unknown parameter: 'top_k'.", param: 'top_k' }
  const at = list(body.tools).findIndex(({ name }) => String(name ?? '').length > 64)
  return at < 0 ? null : { message: `Invalid 'tools[${at}].name': string too long.`, param: `tools[${at}].name` }
}

/** OpenAI's Responses endpoint. */
export const strictResponses: Behaviour = (reply, request) => {
  const body = request.body as Fields
  const fault = refusedByResponses(body)
  if (fault !== null)
    return json(400, { error: { ...fault, type: 'invalid_request_error', code: null } })(reply, request)
  return (body.stream === true ? sse(responseEvents(['Hello'])) : json(200, response('Hello')))(reply, request)
}
