/** What JSON may escape: quotes, backslashes, control characters, halves of surrogate pairs. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u

/**
 * The bytes of a value as JSON in UTF-8, counted without making the text.
 *
 * @param value of what JSON is parsed to; what JSON leaves out counts as nothing
 */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return stringBytes(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0
  if (Array.isArray(value))
    return value.reduce((bytes: number, item) => bytes + 1 + jsonBytes(item ?? null), value.length === 0 ? 2 : 1)
  let bytes = 1
  let isEmpty = true
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue
    isEmpty = false
    bytes += stringBytes(name) + 2 + jsonBytes(item)
  }
  return isEmpty ? 2 : bytes
}

function stringBytes(text: string): number {
  return ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2
}
