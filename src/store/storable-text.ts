/**
 * Converts a value so that both engines can store it. PostgreSQL rejects U+0000 in text and the SQLite driver ends a
 * text there, so it is replaced by U+FFFD, together with unpaired surrogates.
 */
export function withoutNul<Value>(value: Value): Value {
  if (typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())) return value
  return value.toWellFormed().replaceAll('\0', '\ufffd') as Value
}

/** Tells whether text survives UTF-8, the encoding of both engines: it has no unpaired surrogate. */
export const isWhole = (text: string): boolean => text.isWellFormed()

/** Message for text that is not well-formed. */
export const WHOLE = 'must be well-formed Unicode, without half a surrogate pair'
