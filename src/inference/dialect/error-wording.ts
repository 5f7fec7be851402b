/** Words by which upstreams tell an error. */
export interface Wording {
  /** Tells whether a text has these words. */
  test(text: string): boolean
}

/**
 * Creates a wording from a pattern. What stands around each `.*` is looked for one after another: the pattern itself takes a
 * time that grows with the square or the cube of a text that repeats its words, as the quote of a request may.
 *
 * @param pattern has its `|` between whole wordings and its `.*` outside of groups, or neither means more than itself
 */
export function wording({ source, flags }: RegExp): Wording {
  const ways = splitOutside(source, '|').map((way) => splitOutside(way, '.*'))
  const together = ways.filter(({ length }) => length === 1).join('|')
  const apart = ways.filter(({ length }) => length > 1)
  const sequences = (together === '' ? apart : [[together], ...apart]).map((parts) =>
    parts.map((part) => new RegExp(part, `${flags}g`)),
  )
  return { test: (text) => sequences.some((parts) => isInOrder(text, parts)) }
}

/** @param parts global patterns */
function isInOrder(text: string, parts: readonly RegExp[]): boolean {
  let at = 0
  return parts.every((part) => {
    part.lastIndex = at
    const isFound = part.test(text)
    at = part.lastIndex
    return isFound
  })
}

/** Splits the source of a pattern at each separator outside of groups and classes. */
function splitOutside(source: string, separator: string): string[] {
  const parts: string[] = []
  let begin = 0
  let depth = 0
  let isInClass = false
  for (let at = 0; at < source.length; at++) {
    const letter = source[at]
    if (letter === '\\') at++
    else if (isInClass) isInClass = letter !== ']'
    else if (letter === '[') isInClass = true
    else if (letter === '(') depth++
    else if (letter === ')') depth--
    else if (depth === 0 && source.startsWith(separator, at)) {
      parts.push(source.slice(begin, at))
      begin = at + separator.length
      at = begin - 1
    }
  }
  return [...parts, source.slice(begin)]
}
