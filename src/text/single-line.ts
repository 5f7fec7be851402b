/**
 * Puts `text` on one line, without terminal control characters and text direction overrides. A name that someone else
 * chose then cannot imitate a separate line.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
}
