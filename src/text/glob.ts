/**
 * Tells whether a glob matches a text. `*` matches any characters or none; all other characters match themselves. In
 * the worst case, takes time in proportion to the product of both lengths.
 *
 * @example matchesGlob('gpt-*', 'gpt-4o') // true
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...rest] = glob.split('*')
  const last = rest.pop()
  if (last === undefined) return glob === text
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}
