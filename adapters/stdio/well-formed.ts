/** Escape of a lone surrogate in the output of `JSON.stringify`, which it uses for nothing else. */
const HALF = /\\ud[89a-f]/

/**
 * JSON as strict clients read it, without halves of characters: upstreams send them, and a client that refuses them drops
 * the whole line and waits for its answer for ever.
 *
 * @param json as `JSON.stringify` made it; one without such a half comes back unchanged
 * @example wellFormed('"on \\ud83d"') // '"on \\ufffd"'
 */
export function wellFormed(json: string): string {
  if (!HALF.test(json)) return json
  // Escape by escape: where a backslash is escaped itself, what follows it is text.
  return json.replace(/\\(?:(ud[89a-f]..)|.)/g, (sequence, half) => (half === undefined ? sequence : '\\ufffd'))
}
