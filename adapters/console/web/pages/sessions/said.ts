import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { SessionMessage } from '../../../../../src/sessions/session.ts'

/** Words of a turn that are shown, in characters. The page of its call has the rest. */
const MOST_SHOWN = 2_000
/** Objects by which APIs call a tool. */
const TOOL_TYPES = /^(function_call|custom_tool_call|mcp_call|tool_use|server_tool_use)$/

/** Words of a turn, and the names of the tools that its answer calls. */
export interface Said {
  asked: string
  answered: string
  tools: string[]
}

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/**
 * Reads the stored content of a call: the last words of its request, and of the answer words and tools. A streamed answer is
 * stored as text: its tools are read from the request of the call that followed it.
 *
 * @returns null where no content is stored
 */
export function saidIn({ content }: CallRecord, following: CallRecord | undefined): Said | null {
  if (!isJson(content)) return null
  const { request, answer } = content
  const isText = typeof answer === 'string'
  const asked = isJson(request) ? lastAsked(request) : request
  const calling = isText ? lastAnswered((following?.content as Json | undefined)?.request) : answer
  return {
    asked: cut(wordsIn(asked)),
    answered: cut(isText ? answer : wordsIn(answer)),
    tools: [...new Set(toolsIn(calling))],
  }
}

/** Words of a chat with the agent, whose answer a call wrote. The question is the message before it. */
export function saidInChat(messages: readonly SessionMessage[], callId: string): Said | null {
  const at = messages.findIndex(({ call_id }) => call_id === callId)
  const [asked, answer] = [messages[at - 1], messages[at]]
  if (answer === undefined) return null
  return { asked: cut(asked?.content ?? ''), answered: cut(answer.content ?? ''), tools: [] }
}

const turnsIn = (request: Json): Json[] => listIn(request.messages ?? request.input ?? request.contents)

/** Last message of a person in a request of any API; the whole input where it is text. */
const lastAsked = (request: Json): unknown =>
  turnsIn(request).findLast(({ role }) => role === 'user') ?? request.input ?? request.prompt

const isAnswer = ({ role, type }: Json): boolean =>
  role === 'assistant' || role === 'model' || TOOL_TYPES.test(`${type}`)

/** The last answer that a request repeats. The Responses API has one item for each call of a tool. */
function lastAnswered(request: unknown): Json[] {
  const turns = isJson(request) ? turnsIn(request) : []
  const last = turns.findLastIndex(isAnswer)
  const before = turns.slice(0, last).findLastIndex((turn) => !isAnswer(turn))
  return last === -1 ? [] : turns.slice(before + 1, last + 1)
}

/** Texts of a message or an answer, in their order. */
function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(wordsIn).filter(Boolean).join('\n')
  if (!isJson(value)) return ''
  const { text, content, parts, message, choices, output, candidates } = value
  return [text, content, parts, message, choices, output, candidates].map(wordsIn).filter(Boolean).join('\n')
}

/** Names of the tools that an answer calls. */
function toolsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(toolsIn)
  if (!isJson(value)) return []
  const { type, name, tool_calls, functionCall } = value
  const called = [
    ...(TOOL_TYPES.test(`${type}`) ? [name] : []),
    ...listIn(tool_calls).map(({ function: of }) => (isJson(of) ? of.name : null)),
    isJson(functionCall) ? functionCall.name : null,
  ].filter((one) => typeof one === 'string')
  return [...called, ...Object.values(value).flatMap(toolsIn)]
}

const cut = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)
