/**
 * `text.slice(start, end)` without the half of a character that a cut leaves behind: strict JSON parsers refuse a whole
 * reply for one.
 *
 * @example cut('on 👋', 0, 4) // 'on '
 */
export function cut(text: string, start: number, end?: number): string {
  return text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}
