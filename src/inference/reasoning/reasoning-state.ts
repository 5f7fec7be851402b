import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Reasoning of an answer that its provider wants back at the next turn, as fields of chat completions. */
export interface ReasoningState {
  /** Fields of the assistant message. */
  message: Fields
  /** Fields of its tool calls, by call id. */
  calls: Readonly<Record<string, Fields>>
}

/** State of an answer whose provider wants nothing back. */
export const NO_STATE: ReasoningState = { message: {}, calls: {} }

/** Fields with plain reasoning, which comes in pieces. */
export const TEXTS = ['reasoning_content', 'reasoning'] as const
/** The one that providers want back. */
export const PLAIN = TEXTS[0]
/**
 * Fields with reasoning and its signatures: OpenRouter's, and Anthropic's blocks as LiteLLM names them. They replace
 * the plain text.
 */
export const LISTS = ['reasoning_details', 'thinking_blocks'] as const
/** Field of messages and tool calls with Gemini's `google.thought_signature`. */
const EXTRA = 'extra_content'
const FIELDS = [...TEXTS, ...LISTS, EXTRA] as const
/** Fields of an entry of a list that come in pieces. */
const PIECES: ReadonlySet<string> = new Set(['text', 'summary', 'thinking'])

/** Selects the reasoning fields of a message or delta. */
export function reasoningFields(message: Fields): Fields {
  const fields: Fields = {}
  for (const name of FIELDS) if ((message[name] ?? '') !== '') fields[name] = message[name]
  return fields
}

/** Extra content of a tool call. Null when it has none. */
export const extraOf = (call: Fields): Fields | null =>
  (call[EXTRA] ?? null) === null ? null : { [EXTRA]: call[EXTRA] }

/** Reads the reasoning state of a whole assistant message. Null when it has none. */
export function readState(message: Fields): ReasoningState | null {
  const fields = reasoningFields(message)
  const calls = objectsOrNone(message.tool_calls)
  if (calls.length === 0 && Object.keys(fields).length === 0) return null
  const state = createStateReader()
  state.add(fields)
  for (const call of calls) {
    const extra = extraOf(call)
    if (extra !== null) state.addCall(String(call.id), extra)
  }
  return state.take()
}

/** Collects the reasoning state of an answer from its pieces. */
export interface StateReader {
  /** Adds the reasoning fields of a message or delta. */
  add(fields: Fields): void
  /** Adds fields of a tool call. */
  addCall(id: string, fields: Fields): void
  /** State since the last time. Null when there is none. */
  take(): ReasoningState | null
}

/** Creates a reader. */
export function createStateReader(): StateReader {
  let message: Fields = {}
  let calls: Record<string, Fields> = {}
  return {
    add(fields) {
      message = joined(message, fields)
    },
    addCall(id, fields) {
      calls[id] = fields
    },
    take() {
      const isEmpty = Object.keys(message).length === 0 && Object.keys(calls).length === 0
      const state = isEmpty ? null : { message: withoutCopies(message), calls }
      message = {}
      calls = {}
      return state
    },
  }
}

/** Joins the states of one answer, in order. */
export const joinStates = (states: readonly ReasoningState[]): ReasoningState => ({
  message: withoutCopies(states.reduce((whole, { message }) => joined(whole, message), {} as Fields)),
  calls: Object.assign({}, ...states.map(({ calls }) => calls)),
})

/** Puts a state back into the assistant message that it came with. Fields that the client sent itself stay. */
export function putBack<Message extends object>(message: Message, { message: fields, calls }: ReasoningState): Message {
  const { tool_calls } = message as Fields
  if (!Array.isArray(tool_calls)) return { ...fields, ...message }
  const made = objectsOrNone(tool_calls).map((call) => ({ ...fieldsOrNone(calls[String(call.id)]), ...call }))
  return { ...fields, ...message, tool_calls: made }
}

/**
 * Makes the reasoning of a conversation what its model accepts, once states were put back.
 *
 * - Until the first tool calls, plain reasoning is removed: only a model that calls tools may require it, and DeepSeek's
 *   first reasoning models reject it (https://api-docs.deepseek.com/guides/reasoning_model). Later calls change nothing of
 *   that, so that the conversation begins with the same bytes each time.
 * - Answers of another model in between get what stands for reasoning: an empty text, or the signature of calls that
 *   Gemini skips (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export function acceptable<Message extends object>(messages: readonly Message[]): Message[] {
  const first = messages.findIndex((message) => callsOf(message).length > 0)
  if (first < 0) return messages.map(withoutText)
  return [...messages.slice(0, first).map(withoutText), ...withStandIns(messages.slice(first))]
}

/** Gives answers of another model in between what stands for reasoning. */
function withStandIns<Message extends object>(messages: readonly Message[]): Message[] {
  const calling = messages.filter((message) => callsOf(message).length > 0)
  const isPlain = calling.some((message) => PLAIN in message)
  const isSigned = calling.some((message) => callsOf(message).some(isSignedCall))
  if (!isPlain && !isSigned) return [...messages]
  return messages.map((message) => {
    const calls = callsOf(message)
    const isAnswer = calls.length > 0 || (message as Fields).role === 'assistant'
    const fields: Fields = { ...(isPlain && isAnswer && { [PLAIN]: '' }), ...message }
    if (calls.length > 0 && isSigned && !calls.some(isSignedCall))
      fields.tool_calls = calls.map((call) => ({ ...SKIPPED, ...call }))
    return fields as Message
  })
}

/** Extra content of a call that Gemini has not signed. */
export const SKIPPED = { [EXTRA]: { google: { thought_signature: 'skip_thought_signature_validator' } } }

const callsOf = (message: object): Fields[] => objectsOrNone((message as Fields).tool_calls)

const isSignedCall = (call: Fields): boolean =>
  fieldsOrNone(fieldsOrNone(call[EXTRA]).google).thought_signature !== undefined

function withoutText<Message extends object>(message: Message): Message {
  const rest = { ...message } as Fields
  for (const name of TEXTS) delete rest[name]
  return rest as Message
}

function joined(whole: Fields, piece: Fields): Fields {
  const all: Fields = { ...whole, ...piece }
  for (const name of TEXTS)
    if (typeof whole[name] === 'string' && typeof piece[name] === 'string') all[name] = whole[name] + piece[name]
  for (const name of LISTS)
    if (piece[name] !== undefined) all[name] = objectsOrNone(piece[name]).reduce(joinEntry, objectsOrNone(whole[name]))
  return all
}

/** Adds an entry, or the next piece of the last one: pieces have its `index` and `type`. */
function joinEntry(entries: readonly Fields[], entry: Fields): Fields[] {
  const last = entries.at(-1)
  const isNext = last !== undefined && typeof entry.index === 'number'
  if (!isNext || last.index !== entry.index || last.type !== entry.type) return [...entries, entry]
  const whole = { ...last }
  for (const [name, value] of Object.entries(entry)) {
    const known = whole[name]
    if (PIECES.has(name) && typeof known === 'string' && typeof value === 'string') whole[name] = known + value
    else if (value !== null) whole[name] = value
  }
  return [...entries.slice(0, -1), whole]
}

/** Removes the plain text where a list repeats it. */
function withoutCopies(message: Fields): Fields {
  if (!LISTS.some((name) => objectsOrNone(message[name]).length > 0)) return message
  const { reasoning_content, reasoning, ...rest } = message
  return rest
}
