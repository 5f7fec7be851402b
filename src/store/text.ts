/**
 * A value as both engines can hold it. PostgreSQL has no U+0000 in text and the SQLite driver ends a text there, but a
 * caller's path or an upstream's error may well contain it: it is stored as U+FFFD, so that nothing after it is lost.
 */
export function withoutNul<Value>(value: Value): Value {
  if (typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())) return value
  return value.toWellFormed().replaceAll('\0', '\ufffd') as Value
}

/** Whether text is the same as UTF-8, in which an engine keeps it: that has no half of a surrogate pair. */
export const isWhole = (text: string): boolean => text.isWellFormed()

/** What is told of text that is not whole. */
export const WHOLE = 'must be well-formed Unicode, without half a surrogate pair'
