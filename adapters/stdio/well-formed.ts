/** Escape of a lone surrogate. `JSON.stringify` writes no other character this way. */
const HALF = /\\ud[89a-f]/

/**
 * Replaces lone surrogates in JSON, which upstreams may send. A strict client drops the whole line and waits for its
 * answer for ever.
 *
 * @param json output of `JSON.stringify`; without lone surrogates it is returned unchanged
 * @example wellFormed('"on \\ud83d"') // '"on \\ufffd"'
 */
export function wellFormed(json: string): string {
  if (!HALF.test(json)) return json
  // Matches every escape in turn, because text after an escaped backslash is not an escape.
  return json.replace(/\\(?:(ud[89a-f]..)|.)/g, (sequence, half) => (half === undefined ? sequence : '\\ufffd'))
}
