import { isObject } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Api } from './mend.ts'

/** Field of a request that has its messages, and the fields of a message that hold parts. */
export const PLACES: Readonly<Record<Api, { messages: 'messages' | 'input'; parts: readonly string[] }>> = {
  chat: { messages: 'messages', parts: ['content'] },
  messages: { messages: 'messages', parts: ['content'] },
  responses: { messages: 'input', parts: ['content', 'output'] },
}

/**
 * Changes the parts of a message, those of results inside of it too.
 *
 * @param path where the message is in its request
 * @param change returns the part itself where it stays
 * @returns the message itself when none of its parts changed
 */
export function mapParts(
  message: Fields,
  names: readonly string[],
  path: string,
  change: (part: Fields, path: string) => Fields,
): Fields {
  let changed = message
  for (const name of names) {
    const parts = message[name]
    if (!Array.isArray(parts)) continue
    const rest = parts.map((part, at) => {
      if (!isObject(part)) return part
      const where = `${path}.${name}.${at}`
      return part.type === 'tool_result' ? mapParts(part, names, where, change) : change(part, where)
    })
    if (rest.some((part, at) => part !== parts[at])) changed = { ...changed, [name]: rest }
  }
  return changed
}
