import { distance } from 'fastest-levenshtein'

/** Letters that are tried for a wrong letter at the start of a word. */
const ALPHABET = [...'abcdefghijklmnopqrstuvwxyz']

/**
 * Tells whether a word has a digit. Such words match neither by typos nor by their ending: another number is not a
 * typo, and a store can hold many numbers.
 */
export const hasDigit = (word: string): boolean => /\p{N}/u.test(word)

/** Number of typos that a word may have: 0 below 4 letters or with a digit, 1 below 8 letters, else 2. */
export function typosAllowed(word: string): number {
  if (word.length < 4 || hasDigit(word)) return 0
  return word.length < 8 ? 1 : 2
}

/**
 * Edit distance of two words: letters inserted, deleted, replaced, or swapped with their neighbour (Damerau 1964). Swaps
 * are undone in `word` first, so that a swap counts once even when a letter was inserted between the two.
 *
 * @returns Infinity for more than `most` edits
 */
export function typosBetween(word: string, other: string, most: number): number {
  const plain = distance(word, other)
  // A swap is two plain edits, so with more than twice `most` edits, swaps cannot reduce them enough.
  if (plain <= 1 || plain > 2 * most) return plain <= most ? plain : Number.POSITIVE_INFINITY
  const swapped = swaps(word).map((variant) => 1 + typosBetween(variant, other, most - 1))
  return Math.min(plain <= most ? plain : Number.POSITIVE_INFINITY, ...swapped)
}

/** Lists the words from which `word` may come by one typo in the first two letters. */
export function startsCorrected(word: string): string[] {
  const [first = '', second = '', third = ''] = word
  const afterFirst = word.slice(first.length)
  const rest = afterFirst.slice(second.length)
  const variants = ALPHABET.flatMap((letter) => [
    letter + word,
    first + letter + afterFirst,
    letter + afterFirst,
    first + letter + rest,
  ])
  return [
    ...new Set([
      second + first + rest,
      first + third + second + rest.slice(third.length),
      afterFirst,
      first + rest,
      ...variants,
    ]),
  ].filter((variant) => variant !== word)
}

function swaps(word: string): string[] {
  const variants: string[] = []
  for (let i = 0; i + 1 < word.length; i++)
    if (word[i] !== word[i + 1]) variants.push(`${word.slice(0, i)}${word[i + 1]}${word[i]}${word.slice(i + 2)}`)
  return variants
}
