/** Stands in no word: neither a letter nor a digit, and a character of a word to both full-text indexes. */
const MARK = '·'

/**
 * What begins every indexed word of a space, so that the spaces share no word: what a search finds, counts, ranks by and
 * corrects a typo to comes from its own space alone. Those of space 0 are as they are. It has no digits, because words
 * with digits are not corrected.
 *
 * @example markOf(12) // '·bc·'
 */
export const markOf = (space: number): string =>
  space === 0 ? '' : `${MARK}${String(space).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}${MARK}`

/** `words`, with single spaces between, as the index of a space holds them. */
export function marked(space: number, words: string): string {
  const mark = markOf(space)
  return mark === '' ? words : words.replaceAll(/[^ ]+/g, (word) => mark + word)
}
