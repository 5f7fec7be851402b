import { randomUUID } from 'node:crypto'
import { isExactNumber } from '../../text/typed-reader.ts'

/** Encloses a number that JavaScript cannot represent until the text is written. Random, so that no text contains it. */
const MARK = randomUUID()
const MARKED = new RegExp(`"${MARK}([^"\\\\]*)${MARK}"`, 'g')

/** Serializes a value as JSON. Numbers that JavaScript cannot represent keep their original text (`convertedText`). */
export function exactJson(value: unknown): string {
  let isMarked = false
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (!isExactNumber(part)) return part
    isMarked = true
    return MARK + part.value + MARK
  })
  return isMarked ? text.replace(MARKED, '$1') : text
}
