/** How every text of the sandbox begins, so that nobody takes it for a model's. */
export const MARK = '[sandbox] '

/** `text` without the mark, for quoting an earlier answer. */
export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text
}
