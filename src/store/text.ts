/**
 * A value as both engines can hold it. PostgreSQL has no U+0000 in text and the SQLite driver ends a text there, but a
 * caller's path or an upstream's error may well contain it: it is stored as U+FFFD, so that nothing after it is lost.
 */
export function withoutNul<Value>(value: Value): Value {
  if (typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())) return value
  return value.toWellFormed().replaceAll('\0', '\ufffd') as Value
}
