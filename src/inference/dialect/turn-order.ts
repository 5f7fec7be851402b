import { isText, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { LISTS, TEXTS } from '../reasoning/reasoning-state.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'

/** Mistral's validator: https://github.com/mistralai/mistral-common/issues/169 */
const USER_AFTER_TOOL = /unexpected role ['"]?user['"]? after role ['"]?tool/i
/** Chat templates, and Claude on Bedrock. */
const ALTERNATE = wording(
  /roles must alternate|must alternate between|multiple ['"]?(?:user|assistant)['"]? roles in a row|consecutive (?:user|assistant)|unexpected role ['"]?user['"]? after role ['"]?user|unexpected role ['"]?assistant['"]? after role ['"]?assistant/is,
)
/** Newer Claude models: https://github.com/router-for-me/CLIProxyAPI/issues/5319 */
const NO_PREFILL = wording(
  /(?:assistant|message|response) prefill.*not|not support.*prefill|must end with a user (?:message|turn)/is,
)

/** Words of the model between results and what the user says next. */
const READ_RESULTS = 'I have read the results.'
/** Words of the user after an answer that is to go on. */
const GO_ON = 'Continue.'

const isAnswer = ({ role }: Fields): boolean => role === 'assistant'

/** Says something for the model between the results of tools and the next words of the user, where it wants its turn there. */
const answerAfterResults: Mend = {
  name: 'answer_after_results',
  apis: ['chat'],
  isRefused: ({ message }) => USER_AFTER_TOOL.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const isBetween = (at: number) => all[at]?.role === 'user' && all[at - 1]?.role === 'tool'
    if (!all.some((_, at) => isBetween(at))) return {}
    return {
      messages: all.flatMap((message, at) => {
        if (!isBetween(at)) return [message]
        note(`messages.${at}`, 'added')
        return [{ role: 'assistant', content: READ_RESULTS }, message]
      }),
    }
  },
}

/** Joins turns of one role that follow each other. */
const alternateTurns: Mend = {
  name: 'alternate_turns',
  apis: ['chat', 'messages'],
  isRefused: ({ message }) => ALTERNATE.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const turns: Fields[][] = []
    for (const [index, message] of all.entries()) {
      const turn = turns.at(-1) ?? []
      const last = turn.at(-1)
      if (last === undefined || !isJoinable(last, message)) turns.push([message])
      else {
        note(`messages.${index}`, 'moved')
        turn.push(message)
      }
    }
    return turns.length === all.length ? {} : { messages: turns.map(joined) }
  },
}

/** Tells whether two messages are one turn. Calls of a chat stay beside their results. */
const isJoinable = (one: Fields, next: Fields): boolean =>
  one.role === next.role && (next.role === 'user' || (isAnswer(next) && one.tool_calls === undefined))

/** The messages of a turn as one: all at once, since a hostile request has a million of them. */
function joined(turn: readonly Fields[]): Fields {
  const [first = {}, ...others] = turn
  if (others.length === 0) return first
  const fields = Object.fromEntries(turn.flatMap((message) => Object.entries(message)))
  return { ...fields, ...joinedReasoning(turn), content: joinedContent(turn) }
}

/** Reasoning of all messages of a turn, by field: the provider wants back what it sent. */
function joinedReasoning(turn: readonly Fields[]): Fields {
  const reasoning: Fields = {}
  for (const name of TEXTS) {
    const texts = turn.map((message) => message[name]).filter(isText)
    if (texts.length > 0) reasoning[name] = texts.join('\n\n')
  }
  for (const name of LISTS) {
    const entries = turn.flatMap((message) => objectsOrNone(message[name]))
    if (entries.length > 0) reasoning[name] = entries
  }
  return reasoning
}

function joinedContent(turn: readonly Fields[]): unknown {
  const contents = turn.map(({ content }) => content)
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n')
  const parts = contents.flatMap(partsOf)
  return parts.length === 0 ? null : parts
}

const partsOf = (content: unknown): unknown[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return objectsOrNone(content)
}

/** Has the user ask to go on, where a model does not go on with an answer of its own. */
const userAtEnd: Mend = {
  name: 'user_at_end',
  apis: ['chat', 'messages'],
  isRefused: ({ message }) => NO_PREFILL.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const last = all.at(-1)
    if (last === undefined || !isAnswer(last)) return {}
    note(`messages.${all.length}`, 'added')
    return { messages: [...all, { role: 'user', content: GO_ON }] }
  },
}

/** Mends of the order of turns. */
export const TURNS: readonly Mend[] = [answerAfterResults, alternateTurns, userAtEnd]
