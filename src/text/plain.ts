/**
 * `text` on one line, without characters that control a terminal or turn the direction of text: so a name that somebody
 * else gave cannot pass for a line of its own.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
}
