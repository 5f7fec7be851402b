import type { Fields } from '../../text/typed-reader.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { UNNOTED } from './reported-changes.ts'
import { toChatRequest } from './responses-to-chat.ts'
import { UNOPENED } from './thinking-blocks.ts'

/** Forms that are refused elsewhere. */
const ALL = { fileUrls: true, cacheMarks: true }

/**
 * Finds where the input of a Responses request says what its chat request has at `messages.N` or `messages.N.content.M`:
 * in the first item without which the chat request lacks that place.
 *
 * @returns null for any other field
 */
export function inputPlace(chatField: string, request: ResponseRequest): string | null {
  const [root, ...path] = chatField.split('.')
  const { input } = request
  if (root !== 'messages') return null
  if (!Array.isArray(input)) return 'input'
  const place = path.slice(0, 3)
  const hasPlace = (items: number): boolean => {
    const chat = toChatRequest({ ...request, input: input.slice(0, items) }, null, UNNOTED, { open: UNOPENED }, ALL)
    return valueAt(chat.messages, place) !== undefined
  }
  let [fewest, most] = [1, input.length]
  while (fewest < most) {
    const half = Math.floor((fewest + most) / 2)
    if (hasPlace(half)) most = half
    else fewest = half + 1
  }
  const item = fewest - 1
  const part = place.length === 3 ? valueAt(input[item], place.slice(1)) : undefined
  return part === undefined ? `input.${item}` : ['input', item, ...place.slice(1)].join('.')
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], value)
