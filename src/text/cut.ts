/**
 * Returns `text.slice(start, end)` without half a surrogate pair at either end. Strict JSON parsers reject a whole
 * reply that contains one.
 *
 * @example cut('on 👋', 0, 4) // 'on '
 */
export function cut(text: string, start: number, end?: number): string {
  return text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}

/** Truncates `text` to at most `most` UTF-16 units, ellipsis included. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${cut(text, 0, most - 1)}…` : text
}
