import type OpenAI from 'openai'
import { isText } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { acceptable, joinStates, putBack, type ReasoningState } from '../reasoning/reasoning-state.ts'
import { fromBase64 } from '../reasoning/seal.ts'
import { exactJson } from './exact-json.ts'
import { type CallPairs, createCallPairs } from './gemini-calls.ts'
import { kindOf, PART, toPart } from './gemini-parts.ts'
import { isSignature } from './gemini-signatures.ts'
import { chatFunctionName } from './gemini-tools.ts'
import { compact } from './messages-content.ts'
import { type Note, noteUnread } from './reported-changes.ts'
import { read, unsupported, wrongType } from './request-reader.ts'
import type { Thoughts } from './thinking-blocks.ts'

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam
type Part = OpenAI.Chat.ChatCompletionContentPart
type Call = OpenAI.Chat.ChatCompletionMessageFunctionToolCall

/** Members that are read: of a turn, of a call and of its result. */
const CONTENT: ReadonlySet<string> = new Set(['role', 'parts'])
const CALL: ReadonlySet<string> = new Set(['id', 'name', 'args'])
const RESULT: ReadonlySet<string> = new Set(['id', 'name', 'response', 'parts'])

/** Terms of the conversion of a conversation. */
export type TurnTerms = Thoughts & { takesUrls: boolean }

/**
 * Converts the system instruction and the turns of a Gemini request to the messages of a chat. Results of functions come
 * right after their calls, since chat completions wants them there.
 *
 * @throws GazewayError `invalid_request` naming what chat completions cannot express
 */
export function toChatMessages({ systemInstruction, contents }: Fields, terms: TurnTerms): ChatMessage[] {
  const pairs = createCallPairs()
  const turns = read.objects(contents, 'contents').flatMap((content, index) => toTurn(content, index, pairs, terms))
  const instructions = instructionsOf(systemInstruction, terms.note)
  const head: ChatMessage[] = instructions === '' ? [] : [{ role: 'system', content: instructions }]
  return [...head, ...acceptable(turns)]
}

/** Text of the system instruction. The API also takes it as a plain text. */
function instructionsOf(given: unknown, note: Note): string {
  if (typeof given === 'string') return given
  const content = read.fields(given, 'systemInstruction')
  noteUnread(content, CONTENT, note, 'systemInstruction')
  const path = 'systemInstruction.parts'
  const parts = read.objects(content.parts, path)
  return parts
    .map((part, index) => {
      const kind = kindOf(part, `${path}.${index}`)
      noteUnread(part, PART, note, `${path}.${index}`)
      if (kind === 'text') return read.text(part.text, `${path}.${index}.text`)
      throw unsupported(`${path}.${index}`, `chat completions does not allow ${kind} in instructions`)
    })
    .join('\n')
}

function toTurn(content: Fields, index: number, pairs: CallPairs, terms: TurnTerms): ChatMessage[] {
  const { role, parts: given } = content
  const path = `contents.${index}`
  noteUnread(content, CONTENT, terms.note, path)
  const parts = read.objects(given, `${path}.parts`)
  switch (role ?? 'user') {
    case 'user':
    case 'function':
      return toUser(parts, index, pairs, terms)
    case 'model':
      return toAssistant(parts, index, pairs, terms)
    default:
      throw wrongType(`${path}.role`, '"user" or "model"')
  }
}

/** Converts an answer, its text and its calls, to one message. Empty when it has thoughts alone. */
function toAssistant(parts: Fields[], turn: number, pairs: CallPairs, { note, open, kept }: TurnTerms): ChatMessage[] {
  let text = ''
  const states: ReasoningState[] = []
  const calls: Call[] = []

  /** Opens the state that a part brings back, of its call where it is one. */
  function bring(part: Fields, path: string, callId: string | null): void {
    const signature = read.optionalText(part.thoughtSignature, `${path}.thoughtSignature`)
    if (!isSignature(signature)) return
    const state = open(fromBase64(signature))
    if (state === null) note(`${path}.thoughtSignature`, 'dropped')
    else states.push(callId === null ? state : ofCall(state, callId))
  }

  for (const [index, part] of parts.entries()) {
    const path = `contents.${turn}.parts.${index}`
    const kind = kindOf(part, path)
    noteUnread(part, PART, note, path)
    if (kind === 'functionCall') {
      const called = read.object(part.functionCall, `${path}.functionCall`)
      noteUnread(called, CALL, note, `${path}.functionCall`)
      const call = toCall(called, path, pairs, `${turn}_${index}`)
      calls.push(call)
      bring(part, path, call.id)
    } else if (kind === 'text') {
      const said = read.text(part.text, `${path}.text`)
      bring(part, path, null)
      // Thoughts are summaries for people. Google's API does not read them, either.
      if (read.optionalBoolean(part.thought, `${path}.thought`) !== true) text += said
      else if (said !== '') note(path, 'dropped')
    } else throw unsupported(`${path}.${kind}`, `chat completions has no counterpart of ${kind} in an earlier answer`)
  }
  if (text === '' && calls.length === 0) return []
  const [first] = calls
  const alone = states.length === 0 && first !== undefined ? kept?.({ ...first }) : null
  if (alone) states.push(alone)
  const content = text === '' ? null : text
  const said: ChatMessage = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  return [states.length === 0 ? said : putBack(said, joinStates(states))]
}

/** The state of a call, by the id that it has now: its client may have brought it back without one. */
function ofCall({ message, calls }: ReasoningState, id: string): ReasoningState {
  const [fields] = Object.values(calls)
  return { message, calls: fields === undefined ? {} : { [id]: fields } }
}

function toCall(call: Fields, path: string, pairs: CallPairs, place: string): Call {
  const name = read.text(call.name, `${path}.functionCall.name`)
  const args = read.fields(call.args, `${path}.functionCall.args`)
  read.optionalText(call.id, `${path}.functionCall.id`)
  const id = pairs.open(call, place)
  return { id, type: 'function', function: { name: chatFunctionName(name), arguments: exactJson(args) } }
}

/** Converts a user turn: the results first, a message each, and then the user's content. */
function toUser(given: Fields[], turn: number, pairs: CallPairs, terms: TurnTerms): ChatMessage[] {
  const results: ChatMessage[] = []
  const attached: Part[] = []
  const own: Part[] = []
  for (const [index, part] of given.entries()) {
    const path = `contents.${turn}.parts.${index}`
    if (kindOf(part, path) !== 'functionResponse') {
      own.push(toPart(part, path, terms))
      continue
    }
    const at = `${path}.functionResponse`
    noteUnread(part, PART, terms.note, path)
    const result = read.object(part.functionResponse, at)
    noteUnread(result, RESULT, terms.note, at)
    read.text(result.name, `${at}.name`)
    read.optionalText(result.id, `${at}.id`)
    const media = read
      .objects(result.parts, `${at}.parts`)
      .map((one, order) => toPart(one, `${at}.parts.${order}`, terms))
    const text = resultText(result.response, `${at}.response`, media.length > 0)
    results.push({ role: 'tool', tool_call_id: pairs.close(result, `${turn}_${index}`), content: text })
    // Results contain only text in chat completions.
    // One by one: a hostile result has more parts than a call takes arguments.
    for (const part of media) attached.push(part)
  }
  const parts = [...attached, ...own]
  return parts.length === 0 ? results : [...results, { role: 'user', content: compact(parts) }]
}

/**
 * Text of a result. By Google's reference `output` has the result and `error` its failure; any other object is the result
 * itself.
 */
function resultText(response: unknown, path: string, hasMedia: boolean): string {
  const given = read.fields(response, path)
  const [[name, value] = [], ...others] = Object.entries(given)
  if (name === undefined && hasMedia) return 'The result follows in the next message.'
  if (others.length > 0 || (name !== 'output' && name !== 'error')) return exactJson(given)
  const text = typeof value === 'string' ? value : exactJson(value)
  return name === 'error' && !(isText(text) && /^error\b/i.test(text)) ? `Error: ${text}` : text
}
