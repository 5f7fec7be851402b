import { isExactNumber } from '../../text/typed-reader.ts'

/**
 * Encloses a number that JavaScript cannot represent until the text is written. JSON text never contains it unescaped.
 */
const MARK = '\u0001'
const MARKED = /"\\u0001([^"\\]*)\\u0001"/g

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
