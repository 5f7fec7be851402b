import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { isSealed } from '../reasoning/seal.ts'
import type { Note } from './reported-changes.ts'

/** Thinking that Claude models until 4.5 want at the start of a turn with tool calls. */
const BUDGETED = 'enabled'

/**
 * Takes the thinking blocks that Gazeway sealed out of a Messages request, for an upstream that speaks Messages: it
 * rejects signatures that it did not make.
 *
 * @returns the request itself when there are none
 */
export const withoutSealedBlocks = (request: object, note: Note): object =>
  withoutBlocks(request, (block) => isSealed(block.signature ?? block.data), note)

/**
 * Takes thinking blocks out of a Messages request. Where they stood before the last tool calls, thinking is turned off for
 * this request: with a budget, the API wants thinking there
 * (https://docs.claude.com/en/docs/build-with-claude/extended-thinking).
 *
 * @returns the request itself when there are none
 */
export function withoutBlocks(request: object, isTaken: (block: Fields) => boolean, note: Note): object {
  const given = request as Fields
  const messages = objectsOrNone(given.messages)
  let lastTaken = -1
  const kept = messages.flatMap((message, index) => {
    const content = objectsOrNone(message.content)
    const left = content.filter((block, at) => {
      if (!isTaken(block)) return true
      note(`messages.${index}.content.${at}`, 'dropped')
      lastTaken = index
      return false
    })
    if (left.length === content.length) return [message]
    return left.length === 0 ? [] : [{ ...message, content: left }]
  })
  if (lastTaken < 0) return request
  const isOpenTurn = messages.slice(lastTaken + 1).every(isResult)
  return { ...(isOpenTurn ? withoutThinking(given, note) : given), messages: kept }
}

/** Tells whether a message goes on with the turn before it: with tool results, or the model's own words. */
const isResult = ({ role, content }: Fields): boolean =>
  role === 'assistant' || objectsOrNone(content).some(({ type }) => type === 'tool_result')

/** Turns thinking with a budget off, and what is asked about earlier thinking. */
export function withoutThinking(given: Fields, note: Note): Fields {
  if (fieldsOrNone(given.thinking).type !== BUDGETED) return given
  const { thinking, context_management, ...rest } = given
  note('thinking', 'dropped')
  if (context_management !== undefined) note('context_management', 'dropped')
  return rest
}

/**
 * Takes the reasoning items that Gazeway sealed out of a Responses request, for an upstream that has the endpoint.
 *
 * @returns the request itself when there are none
 */
export function withoutSealedItems(request: object, note: Note): object {
  const given = request as Fields
  const input = Array.isArray(given.input) ? given.input : []
  const kept = input.filter((item, index) => {
    if (!isSealed(fieldsOrNone(item).encrypted_content)) return true
    note(`input.${index}`, 'dropped')
    return false
  })
  return kept.length === input.length ? request : { ...given, input: kept }
}
