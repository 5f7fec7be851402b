import type { StoredWord } from './memory-words.ts'

/** Shortest part of a compound, in letters. */
const SHORTEST = 4
/** Longest compound that is split, in letters. */
const LONGEST = 64

/**
 * Splits a compound into two words, with or without an "s" between them, as in German. Takes the pair found by `lookUp`
 * with the longest first part. Empty when there is none.
 *
 * @example await splitCompound('rechnungsnummer', async () => []) // []
 */
export async function splitCompound(
  compound: string,
  lookUp: (words: readonly string[]) => Promise<readonly StoredWord[]>,
): Promise<StoredWord[]> {
  const letters = [...compound]
  if (letters.length < 2 * SHORTEST || letters.length > LONGEST || !letters.every(isLetter)) return []
  const ends = Array.from({ length: letters.length - 2 * SHORTEST + 1 }, (_, i) => i + SHORTEST).reverse()
  const joint = ends.map((end) => ({ head: letters.slice(0, end).join(''), tail: letters.slice(end).join('') }))
  const asked = joint.flatMap(({ head, tail }) => [head, ...tailsOf(tail)])
  const held = new Map((await lookUp([...new Set(asked)])).map((word) => [word.word, word]))
  for (const { head, tail } of joint) {
    const first = held.get(head)
    const last = tailsOf(tail)
      .map((word) => held.get(word))
      .find((word) => word !== undefined)
    if (first && last) return [first, last]
  }
  return []
}

const tailsOf = (tail: string): string[] => (tail.startsWith('s') ? [tail, tail.slice(1)] : [tail])

const isLetter = (letter: string): boolean => /\p{L}/u.test(letter)
