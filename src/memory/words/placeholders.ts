/** Never part of a text's words: neither a letter nor a digit. Both full-text indexes treat it as part of a word. */
const MARK = '·'

/**
 * Prefix of every indexed word of a space; empty for space 0. Spaces share no indexed word, so a search finds only the
 * words of its own space. The prefix has no digits, because some indexes split words at digits.
 *
 * @example markOf(12) // '·bc·'
 */
export const markOf = (space: number): string =>
  space === 0 ? '' : `${MARK}${String(space).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}${MARK}`

/** Adds the prefix of a space to `words`, which are separated by single spaces. */
export function marked(space: number, words: string): string {
  const mark = markOf(space)
  return mark === '' ? words : words.replaceAll(/[^ ]+/g, (word) => mark + word)
}

/** Removes the prefix of a space from the words of `texts` and returns the distinct words. */
export function unmarked(space: number, texts: readonly string[]): Set<string> {
  const { length } = markOf(space)
  const words = new Set<string>()
  for (const text of texts) for (const word of text.split(' ')) if (word !== '') words.add(word.slice(length))
  return words
}
