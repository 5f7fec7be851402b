/** Characters that JSON may escape: quotes, backslashes, control characters, unpaired surrogates. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u

/**
 * Counts the bytes of a value as JSON in UTF-8, without serializing it.
 *
 * @param value a JSON value; fields that JSON omits count as nothing
 * @example jsonBytes({ name: 'é' }) // 13
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
