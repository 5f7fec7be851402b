import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { wording } from './error-wording.ts'
import type { Mend, Refusal } from './mend.ts'

const BLANK = wording(
  /non-?empty|empty|non-whitespace|trailing whitespace|blank|null content|content.*(?:required|missing)/is,
)
const NOTHING_SAID = '(no text)'

const isBlank = (text: unknown): boolean => typeof text === 'string' && text.trim() === ''
const isRefused = ({ message }: Refusal): boolean => BLANK.test(message)
const isBlankText = ({ type, text }: Fields): boolean => type === 'text' && isBlank(text)

/** Takes out texts without a word, and the space at the end of a prefill. */
const messagesTexts: Mend = {
  name: 'no_blank_texts',
  apis: ['messages'],
  isCertain: true,
  isRefused,
  fields({ system, messages }, note) {
    const all = objectsOrNone(messages)
    const rest = withoutBlanks(all, note)
    const instructions = systemWithoutBlanks(system, note)
    return {
      ...(rest !== all && { messages: rest }),
      ...(instructions !== system && { system: instructions }),
    }
  },
}

const chatTexts: Mend = {
  name: 'no_blank_texts',
  apis: ['chat'],
  isRefused,
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const rest = withoutBlanks(all, note)
    return rest === all ? {} : { messages: rest }
  },
}

/** Mends of texts that say nothing. */
export const BLANK_TEXTS: readonly Mend[] = [messagesTexts, chatTexts]

function systemWithoutBlanks(system: unknown, note: Note): unknown {
  const blocks = objectsOrNone(system)
  const said = blocks.filter((block) => !isBlankText(block))
  if (!isBlank(system) && said.length === blocks.length) return system
  note('system', 'dropped')
  return said.length === 0 ? undefined : said
}

/** @returns the same list when no text is blank */
function withoutBlanks(all: Fields[], note: Note): Fields[] {
  let isChanged = false
  const rest = all.flatMap((message, index): Fields[] => {
    const changed = said(message, index === all.length - 1, (what) => note(`messages.${index}`, what))
    isChanged ||= changed !== message
    return changed === null ? [] : [changed]
  })
  return isChanged ? rest : all
}

/** A message without blank texts. Null when nothing is left of one that the next turn does not need. */
function said(message: Fields, isLast: boolean, note: (what: 'dropped' | 'rewritten') => void): Fields | null {
  const { role, content, tool_calls } = message
  if (typeof content === 'string') {
    if (isLast && role === 'assistant' && content !== content.trimEnd() && !isBlank(content)) {
      note('rewritten')
      return { ...message, content: content.trimEnd() }
    }
    return isBlank(content) ? unsaid(message, note) : message
  }
  if (!Array.isArray(content)) return message
  const blocks = objectsOrNone(content)
  const left = blocks.filter((block) => !isBlankText(block)).map((block) => resultSaid(block))
  const end = left.at(-1)
  if (isLast && role === 'assistant' && end?.type === 'text' && typeof end.text === 'string')
    if (end.text !== end.text.trimEnd()) left[left.length - 1] = { ...end, text: end.text.trimEnd() }
  if (left.length === blocks.length && left.every((block, at) => block === blocks[at])) return message
  if (left.length === 0 && tool_calls === undefined) return unsaid(message, note)
  note('rewritten')
  return { ...message, content: left.length === 0 ? null : left }
}

/** Stand-in for a message without a word. */
function unsaid(message: Fields, note: (what: 'dropped' | 'rewritten') => void): Fields | null {
  const { role, tool_calls } = message
  const isNeeded = role === 'user' || role === 'tool' || objectsOrNone(tool_calls).length > 0
  note(isNeeded ? 'rewritten' : 'dropped')
  if (!isNeeded) return null
  return { ...message, content: objectsOrNone(tool_calls).length > 0 ? null : NOTHING_SAID }
}

/** A tool result without blank texts: an empty one is allowed, a blank block in it is not. */
function resultSaid(block: Fields): Fields {
  if (block.type !== 'tool_result') return block
  const inner = objectsOrNone(block.content)
  const left = inner.filter((one) => !isBlankText(one))
  return left.length === inner.length ? block : { ...block, content: left }
}
