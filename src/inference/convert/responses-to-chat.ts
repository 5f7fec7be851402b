import { objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT, RESPONSES_LIMIT } from '../api/answer-limit.ts'
import type { ChatRequest, ResponseRequest } from '../api/requests.ts'
import type { Takes } from './accepted-forms.ts'
import { hasMarks } from './anthropic-cache-marks.ts'
import { callableTools, isCallable, isNamespace } from './callable-tools.ts'
import { type Note, noteUnread, UNNOTED } from './reported-changes.ts'
import { read, unsupported } from './request-reader.ts'
import { toMessages } from './response-input.ts'
import { toChatTools } from './response-tools.ts'
import { type Thoughts, UNOPENED } from './thinking-blocks.ts'

/** Fields of both APIs, or of chat completions alone when clients send them anyway. */
const SHARED = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'seed',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** Chat fields that carry a field of the Responses API under another name. */
const CARRIED_BY = new Map<string, readonly string[]>(
  Object.entries({
    [RESPONSES_LIMIT]: [CHAT_LIMIT],
    // The new name alone is rejected here, and the answer must have a limit (`AnswerLimits`).
    [CHAT_LIMIT]: [],
    reasoning: ['reasoning_effort'],
    'reasoning.summary': [],
    text: ['response_format', 'verbosity'],
    'text.format': ['response_format'],
    'text.verbosity': ['verbosity'],
    tools: ['tools', 'tool_choice', 'parallel_tool_calls'],
    include: ['logprobs', 'top_logprobs'],
    top_logprobs: ['logprobs', 'top_logprobs'],
  }),
)

/** Fields that are converted, or say how the answer is delivered. */
const READ: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'input', 'instructions', 'reasoning', 'text', 'include', 'top_logprobs'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'cache_control', RESPONSES_LIMIT, ...SHARED],
])

/** Tools that the client runs, and whose calls only the provider's models write. */
const CLIENT_RUN = /^computer(?:_|$)/

/** Fields that every chat request needs. */
const NEEDED = ['messages']

/**
 * Converts a Responses request to the nearest chat request, for the fallback. Features of the responses endpoint alone
 * are dropped: search and other built-in tools, reasoning items and stored state (`countsOnStored`). `metadata` and
 * `store` are dropped too: chat completions requires both together, and the Response could not be retrieved.
 *
 * @param refused field that the upstream has just rejected (`temperature`, `text.format.schema`, `tools[1].type`),
 *   which is not sent again; for a list of tools, only the one at fault
 * @param note notes what was dropped
 * @param thoughts.open opens the reasoning state that reasoning items bring back; others are dropped
 * @param thoughts.kept finds the state of calls that came without such items
 * @param takes forms beyond the common one that the upstream takes
 * @throws GazewayError `invalid_request` naming what is malformed, or what chat completions cannot express
 */
export function toChatRequest(
  request: ResponseRequest,
  refused: string | null = null,
  note: Note = UNNOTED,
  thoughts: Omit<Thoughts, 'note'> = { open: UNOPENED },
  takes: Takes = {},
): ChatRequest {
  const given = request as unknown as Fields
  noteUnread(given, READ, note)
  noteBuiltIn(given, note)
  const { cacheMarks: keepsMarks = false } = takes
  if (!keepsMarks && hasMarks(given)) note('cache_control', 'dropped')
  const text = read.fields(request.text, 'text')
  const { offered, chatName } = callableTools(request)
  const chat: Fields = {
    messages: toMessages(request, chatName, { note, ...thoughts }, takes),
    ...Object.fromEntries(SHARED.map((name) => [name, given[name]])),
    [CHAT_LIMIT]: request[RESPONSES_LIMIT],
    reasoning_effort: read.fields(request.reasoning, 'reasoning').effort,
    response_format: responseFormat(read.fields(text.format, 'text.format')),
    verbosity: text.verbosity,
    ...logprobs(request),
    ...toChatTools(request, offered, refused, keepsMarks),
    cache_control: keepsMarks ? given.cache_control : undefined,
  }
  for (const name of carriers(refused)) if (delete chat[name]) note(name, 'dropped')
  return present(chat) as unknown as ChatRequest
}

/** Notes the tools that the provider would have run itself. @throws GazewayError for one that the client would run */
function noteBuiltIn({ tools }: Fields, note: Note): void {
  for (const [index, tool] of objectsOrNone(tools).entries())
    if (CLIENT_RUN.test(String(tool.type)))
      throw unsupported(`tools.${index}`, `chat completions has no counterpart of the tool ${tool.type}`)
    else if (!isCallable(tool) && !isNamespace(tool)) note(`tools.${index}`, 'dropped')
}

/** Chat fields that carry a rejected field of the Responses API. */
function carriers(refused: string | null): readonly string[] {
  // For a list of tools, only the one at fault is dropped.
  if (refused === null || /^tools[.[]\d/.test(refused)) return []
  const [root = '', below] = refused.split(/[.[\]]+/)
  const names = CARRIED_BY.get(`${root}.${below}`) ?? CARRIED_BY.get(root) ?? [root]
  return names.filter((name) => !NEEDED.includes(name))
}

function logprobs({ include, top_logprobs }: ResponseRequest): Fields {
  const asked = read.list(include, 'include').includes('message.output_text.logprobs')
  const top = read.optionalNumber(top_logprobs, 'top_logprobs')
  return asked || top ? { logprobs: true, top_logprobs: top } : {}
}

function responseFormat(format: Fields): Fields | undefined {
  const type = read.optionalText(format.type, 'text.format.type') ?? 'text'
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  if (type !== 'json_schema')
    throw unsupported('text.format.type', `chat completions has no format ${type}; use json_schema`)
  if (format.schema === undefined || format.schema === null) return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: present({ name: name ?? 'response', description, schema, strict }) }
}
