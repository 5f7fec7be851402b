/** Stands around a number that JavaScript cannot hold until the text is written; no JSON text holds it unescaped. */
const MARK = '\u0001'
const MARKED = /"\\u0001([^"\\]*)\\u0001"/g

/** A value as JSON, with the numbers as they were written that JavaScript cannot hold (`convertedText`). */
export function exactJson(value: unknown): string {
  let isMarked = false
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (!isExactNumber(part)) return part
    isMarked = true
    return MARK + part.value + MARK
  })
  return isMarked ? text.replace(MARKED, '$1') : text
}

/** What lossless-json makes of such a number. */
const isExactNumber = (value: unknown): value is { value: string } =>
  typeof value === 'object' && value !== null && 'isLosslessNumber' in value && value.constructor !== Object
