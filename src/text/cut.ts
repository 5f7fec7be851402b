/**
 * `text.slice(start, end)` without the half of a character that a cut leaves behind: strict JSON parsers refuse a whole
 * reply for one.
 *
 * @example cut('on 👋', 0, 4) // 'on '
 */
export function cut(text: string, start: number, end?: number): string {
  return text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}

/** `text` itself, or as much of it as leaves room for an ellipsis: at most `most` characters (UTF-16) together. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${cut(text, 0, most - 1)}…` : text
}
