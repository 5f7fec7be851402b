import type { StoredWord } from './memory-words.ts'

/** Shortest part of a compound, in letters. */
const SHORTEST = 4
/** Longest compound that is split, in letters. */
const LONGEST = 64

/**
 * Splits compounds into two words, with or without an "s" between them, as in German. Takes the pair found by `lookUp`
 * with the longest first part. Has no entry for words that it cannot split.
 *
 * @example await splitCompounds(['rechnungsnummer'], async () => []) // new Map()
 */
export async function splitCompounds(
  compounds: readonly string[],
  lookUp: (words: readonly string[]) => Promise<readonly StoredWord[]>,
): Promise<Map<string, StoredWord[]>> {
  const splits = compounds.map((compound) => ({ compound, pairs: pairsOf(compound) }))
  const asked = splits.flatMap(({ pairs }) => pairs.flatMap(({ head, tails }) => [head, ...tails]))
  const held = new Map((await lookUp([...new Set(asked)])).map((word) => [word.word, word]))
  const found = new Map<string, StoredWord[]>()
  for (const { compound, pairs } of splits)
    for (const { head, tails } of pairs) {
      const first = held.get(head)
      const last = tails.map((word) => held.get(word)).find((word) => word !== undefined)
      if (first && last && !found.has(compound)) found.set(compound, [first, last])
    }
  return found
}

/** Lists the ways to split a compound, the longest first part first. */
function pairsOf(compound: string): Array<{ head: string; tails: string[] }> {
  const letters = [...compound]
  if (letters.length < 2 * SHORTEST || letters.length > LONGEST || !letters.every(isLetter)) return []
  const ends = Array.from({ length: letters.length - 2 * SHORTEST + 1 }, (_, i) => i + SHORTEST).reverse()
  return ends.map((end) => ({ head: letters.slice(0, end).join(''), tails: tailsOf(letters.slice(end).join('')) }))
}

const tailsOf = (tail: string): string[] => (tail.startsWith('s') ? [tail, tail.slice(1)] : [tail])

const isLetter = (letter: string): boolean => /\p{L}/u.test(letter)
