import { isObject } from '../../text/json.ts'
import { FINISHED } from '../api/finish-reason.ts'
import type { ChatCompletion } from '../api/requests.ts'
import { type Completeness, createCompleteness } from '../convert/object-end.ts'
import { callOf } from '../convert/streamed-calls.ts'

type Fields = Record<string, unknown>

/** Fields that a stream sends once or repeats in full. All other texts come in pieces. */
const WHOLE = new Set(['id', 'type', 'role', 'name', 'finish_reason', 'format', 'signature'])

/** Joins the chunks of a chat stream into the completion. */
export interface JoinedChunks {
  push(chunk: object): void
  /** True once a choice has begun. */
  isBegun(): boolean
  /** True once a choice has begun and every choice has its finish reason. */
  isFinished(): boolean
  /** The completion of a complete stream. Some providers omit the finish reason. */
  completion(): ChatCompletion
}

/**
 * Creates a joiner of chunks. Texts are concatenated, tool calls told apart as `callOf` does, other additions by their
 * `index`. Tool arguments and structured output are not parsed.
 */
export function joinChunks(): JoinedChunks {
  const head: Fields = {}
  const choices: Fields[] = []
  return {
    push(chunk) {
      const { choices: pieces, ...rest } = chunk as Fields
      for (const [name, value] of Object.entries(rest)) if (value !== null) head[name] = value
      for (const { index, delta, ...fields } of isList(pieces) ? pieces : []) {
        const choice = entryOf(choices, Number(index ?? 0))
        join(choice, { ...fields, message: delta ?? {} })
      }
    },
    isBegun: () => choices.length > 0,
    isFinished: () => choices.length > 0 && choices.every(({ finish_reason }) => Boolean(finish_reason)),
    completion() {
      const whole = choices.toSorted((a, b) => Number(a.index) - Number(b.index))
      for (const choice of whole) {
        withoutIndexes(choice.message as Fields)
        choice.finish_reason ||= FINISHED
      }
      return { ...head, object: 'chat.completion', choices: whole } as unknown as ChatCompletion
    },
  }
}

/** Merges a piece into the whole. */
function join(whole: Fields, piece: Fields): void {
  for (const [name, value] of Object.entries(piece)) {
    const known = Object.hasOwn(whole, name) ? whole[name] : undefined
    if (value === null || value === undefined) whole[name] ??= value
    else if (typeof value === 'string' && typeof known === 'string' && !WHOLE.has(name)) whole[name] = known + value
    else if (isList(value)) {
      const entries = isList(known) ? known : []
      whole[name] = name === 'tool_calls' ? joinCalls(entries, value) : joinLists(entries, value)
    } else if (isObject(value)) {
      const fields = isObject(known) ? known : {}
      join(fields, value)
      whole[name] = fields
    } else if (value !== '' || known === undefined || known === null) whole[name] = value
  }
}

/** Merges lists: entries with an `index` are pieces of one another, others are appended. */
function joinLists(whole: Fields[], pieces: Fields[]): Fields[] {
  for (const piece of pieces)
    if (typeof piece.index === 'number') join(entryOf(whole, piece.index), piece)
    else whole.push(piece)
  return whole
}

function joinCalls(whole: Fields[], pieces: Fields[]): Fields[] {
  for (const piece of pieces) {
    const { index, id, function: called } = piece
    const known = callOf(whole, { index, id, ...(isObject(called) && called) }, (one) => argumentsOf(one).isWhole())
    const call = known ?? {}
    if (!known) whole.push(call)
    join(call, piece)
    if (isObject(called) && typeof called.arguments === 'string') argumentsOf(call).push(called.arguments)
  }
  return whole
}

/** Arguments of the calls that are being joined. */
const ARGUMENTS = new WeakMap<Fields, Completeness>()

function argumentsOf(call: Fields): Completeness {
  const known = ARGUMENTS.get(call) ?? createCompleteness()
  ARGUMENTS.set(call, known)
  return known
}

/** Entry of an index, created when missing. */
function entryOf(entries: Fields[], index: number): Fields {
  const known = entries.find((entry) => entry.index === index)
  if (known) return known
  const entry: Fields = { index }
  entries.push(entry)
  return entry
}

/** Completes a whole message, whose tool calls are not numbered. */
function withoutIndexes(message: Fields): void {
  message.role ??= 'assistant'
  message.content ??= null
  if (isList(message.tool_calls)) for (const call of message.tool_calls) delete call.index
}

const isList = (value: unknown): value is Fields[] => Array.isArray(value) && value.every(isObject)
