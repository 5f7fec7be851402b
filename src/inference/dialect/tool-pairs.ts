import { createHash } from 'node:crypto'
import { isObject, parseJson } from '../../text/json.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'
import { contentText } from './system-messages.ts'

const UNPAIRED = wording(
  /did(?: not|n't) have (?:a )?response|must be (?:followed by|a response to)|tool[_ ](?:call|use|result|message)s?\b.*(?:without|missing|no corresponding|not found|preced|match|follow|insufficient|single result|unique|duplicate)|(?:insufficient|missing|unexpected|duplicate|no) [`'"]?(?:tool|function)|number of (?:function|tool)|function response/is,
)
const TOO_LONG = /too long|maximum length|max(?:imum)?_length|at most \d+/i
const LONG_ID = wording(new RegExp(`\\bid\\b.*(?:${TOO_LONG.source})|string too long.*\\bid\\b`, 'is'))
const NINE_LETTERS = /a-z, A-Z, 0-9, with a length of 9/
const BROKEN_JSON =
  /argument|json|unterminated string|expecting (?:value|property|',')|unexpected (?:end|token)|invalid escape|parse/i

/** Longest id of a tool call at OpenAI. */
const LONGEST_ID = 40
const NO_RESULT = 'No result was recorded for this call.'
const ORPHAN = 'Result of a tool call that is no longer part of this conversation:\n'

const callsOf = ({ role, tool_calls }: Fields): Fields[] => (role === 'assistant' ? objectsOrNone(tool_calls) : [])

/** Gives each call of a chat one result right after it, and no result without a call. */
const chatPairs: Mend = {
  name: 'tool_pairs',
  apis: ['chat'],
  isCertain: true,
  isRefused: ({ message }) => UNPAIRED.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    if (!all.some(({ role, tool_calls }) => role === 'tool' || tool_calls !== undefined)) return {}
    const paired = createPairing(all, note)
    const rest = all.flatMap((message, index) => paired(message, index))
    return isSame(rest, all) ? {} : { messages: rest }
  },
}

/** Pairs the messages of a chat, one by one: returns those that stand in the place of each. */
function createPairing(all: readonly Fields[], note: Note): (message: Fields, index: number) => Fields[] {
  /** Places of the results of each id that are not passed yet, the first at the end. */
  const results = new Map<unknown, number[]>()
  for (const [index, { role, tool_call_id: id }] of [...all.entries()].reverse()) {
    if (role !== 'tool') continue
    const places = results.get(id)
    if (places === undefined) results.set(id, [index])
    else places.push(index)
  }
  const taken = new Set<number>()
  const answered = new Set<unknown>()

  /** @param after place of the call; never before that of the last one */
  function resultOf(id: unknown, after: number): number | undefined {
    const places = results.get(id) ?? []
    while ((places.at(-1) ?? Infinity) <= after) places.pop()
    const found = places.pop()
    if (found !== undefined) taken.add(found)
    return found
  }

  return (message, index) => {
    if (message.role === 'tool') {
      if (taken.has(index)) return []
      note(`messages.${index}`, answered.has(message.tool_call_id) ? 'dropped' : 'rewritten')
      if (answered.has(message.tool_call_id)) return []
      return [{ role: 'user', content: `${ORPHAN}${contentText(message.content)}` }]
    }
    const calls = callsOf(message)
    if (calls.length === 0) return [message]
    const ids = new Set<unknown>()
    const once = calls.filter(({ id }) => ids.size < ids.add(id).size)
    if (once.length < calls.length) note(`messages.${index}.tool_calls`, 'dropped')
    const after = once.map(({ id }, at) => {
      answered.add(id)
      const found = resultOf(id, index)
      if (found !== undefined) return all[found] as Fields
      note(`messages.${index}.tool_calls.${at}`, 'added')
      return { role: 'tool', tool_call_id: id, content: NO_RESULT }
    })
    return [once.length < calls.length ? { ...message, tool_calls: once } : message, ...after]
  }
}

/** The same for the blocks of Messages: results stand at the beginning of the turn after their calls. */
const messagesPairs: Mend = {
  name: 'tool_pairs',
  apis: ['messages'],
  isCertain: true,
  isRefused: ({ message }) => UNPAIRED.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const rest: Fields[] = []
    let open: unknown[] = []
    for (const [index, message] of all.entries()) {
      const blocks = objectsOrNone(message.content)
      const isAnswer = message.role === 'user'
      const own = isAnswer ? blocks.filter(({ type }) => type === 'tool_result') : []
      const answered = new Set(own.map(({ tool_use_id }) => tool_use_id))
      const isPaired = own.length === open.length && open.every((id) => answered.has(id))
      if (isPaired) rest.push(message)
      else if (isAnswer) rest.push({ ...message, content: pairedBlocks(message.content, open, index, note) })
      else {
        note(`messages.${index}`, 'added')
        rest.push({ role: 'user', content: open.map(noResult) }, message)
      }
      open = message.role === 'assistant' ? blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id) : []
    }
    if (open.length > 0) {
      note(`messages.${all.length}`, 'added')
      rest.push({ role: 'user', content: open.map(noResult) })
    }
    return isSame(rest, all) ? {} : { messages: rest }
  },
}

const noResult = (tool_use_id: unknown): Fields => ({ type: 'tool_result', tool_use_id, content: NO_RESULT })

function pairedBlocks(content: unknown, open: readonly unknown[], index: number, note: Note): Fields[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOrNone(content)
  const called = new Set(open)
  /** The first result of each id. */
  const found = new Map<unknown, Fields>()
  for (const block of blocks)
    if (block.type === 'tool_result' && !found.has(block.tool_use_id)) found.set(block.tool_use_id, block)
  const results = open.map((id) => {
    if (!found.has(id)) note(`messages.${index}.content`, 'added')
    return found.get(id) ?? noResult(id)
  })
  const others = blocks.flatMap((block, at) => {
    if (block.type !== 'tool_result') return [block]
    const isDouble = called.has(block.tool_use_id)
    if (isDouble && found.get(block.tool_use_id) === block) return []
    note(`messages.${index}.content.${at}`, isDouble ? 'dropped' : 'rewritten')
    return isDouble ? [] : [{ type: 'text', text: `${ORPHAN}${contentText(block.content)}` }]
  })
  return [...results, ...others]
}

/** Replaces ids that are too long by their hash, the same in each turn. */
const ids = (name: string, isRefused: Mend['isRefused'], isFit: (id: string) => boolean, length: number): Mend => ({
  name,
  apis: ['chat'],
  isRefused,
  fields({ messages }, note) {
    const fit = (id: unknown, field: string): unknown => {
      if (typeof id !== 'string' || isFit(id)) return id
      note(field, 'rewritten')
      return createHash('sha256').update(id).digest('hex').slice(0, length)
    }
    const all = objectsOrNone(messages)
    const rest = all.map((message, index) => {
      const path = `messages.${index}`
      if (message.role === 'tool') {
        const id = fit(message.tool_call_id, `${path}.tool_call_id`)
        return id === message.tool_call_id ? message : { ...message, tool_call_id: id }
      }
      return withCalls(message, (call, at) => {
        const id = fit(call.id, `${path}.tool_calls.${at}.id`)
        return id === call.id ? call : { ...call, id }
      })
    })
    return isSame(rest, all) ? {} : { messages: rest }
  },
})

const shortIds: Mend = {
  ...ids(
    'short_ids',
    ({ message, field }) =>
      // The second pattern alone takes twenty times as long.
      TOO_LONG.test(message) && (LONG_ID.test(message) || (/too long/i.test(message) && /id$/.test(field ?? ''))),
    (id) => id.length <= LONGEST_ID,
    LONGEST_ID,
  ),
  isCertain: true,
}

/** Ids as Mistral wants them. */
const nineLetters = ids(
  'nine_letter_ids',
  ({ message }) => NINE_LETTERS.test(message),
  (id) => /^[a-zA-Z0-9]{9}$/.test(id),
  9,
)

/** Writes arguments of earlier calls as the JSON object that templates and servers parse. */
const jsonArguments: Mend = {
  name: 'json_arguments',
  apis: ['chat'],
  isCertain: true,
  isRefused: ({ message }) => BROKEN_JSON.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const rest = all.map((message, index) =>
      withCalls(message, (call, at) => {
        const called = call.function
        if (!isObject(called) || typeof called.arguments !== 'string') return call
        const args = objectText(called.arguments)
        if (args === called.arguments) return call
        note(`messages.${index}.tool_calls.${at}.function.arguments`, 'rewritten')
        return { ...call, function: { ...called, arguments: args } }
      }),
    )
    return isSame(rest, all) ? {} : { messages: rest }
  },
}

/** Mends of tool calls and their results. */
export const TOOL_PAIRS: readonly Mend[] = [chatPairs, messagesPairs, shortIds, nineLetters, jsonArguments]

/**
 * Arguments of a call as the text of a JSON object. Arguments encoded twice are decoded; what is no JSON is kept as a
 * text in one.
 */
export function objectText(args: string): string {
  if (args.trim() === '') return '{}'
  const parsed = parseJson(args)
  if (isObject(parsed)) return args
  if (typeof parsed === 'string' && isObject(parseJson(parsed))) return parsed
  return JSON.stringify({ unparsed_arguments: args })
}

function withCalls(message: Fields, change: (call: Fields, at: number) => Fields): Fields {
  const calls = callsOf(message)
  const changed = calls.map(change)
  return isSame(changed, calls) ? message : { ...message, tool_calls: changed }
}

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((entry, index) => entry === other[index])
