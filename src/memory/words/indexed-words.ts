import { charactersOf, fold, isUnspaced, runsOf, shortened } from '../../text/words.ts'

/**
 * Maximum number of distinct words of a value in the index. Prose of 256 KiB has fewer. Each takes time to store, in which no
 * other process writes on SQLite.
 */
export const MAX_INDEXED_WORDS = 10_000

/** Boundaries between the parts of an identifier: `getUser`, `HTTPServer`. */
const JOINT = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** A word in the index. */
export interface IndexedWord {
  text: string
  /** Parts of a joined word such as `getUserName`; empty for other words. */
  parts: string[]
}

/**
 * Yields the words of `text` for the index: folded, cut to 64 letters, in order.
 *
 * - Words joined by capitals come with their parts.
 * - Scripts without spaces give pairs of neighbouring characters. A single character is a word.
 *
 * @example [...wordsIn('getUser 数据库')] // getuser (get, user), 数据, 据库
 */
export function* wordsIn(text: string): Generator<IndexedWord> {
  for (const run of runsOf(text)) {
    if (isUnspaced(run)) for (const pair of pairsOf(charactersOf(fold(run)))) yield { text: pair, parts: [] }
    else yield { text: shortened(fold(run)), parts: partsOf(run) }
  }
}

/**
 * Lists all index words of a memory: its words, the parts of joined words, and each character of scripts without
 * spaces.
 */
export function indexedWords(text: string): string[] {
  const words: string[] = []
  for (const run of runsOf(text)) {
    if (!isUnspaced(run)) {
      words.push(shortened(fold(run)))
      // One by one: a long run has more parts than a call takes arguments.
      for (const part of partsOf(run)) words.push(part)
      continue
    }
    const characters = charactersOf(fold(run))
    for (const [i, character] of characters.entries()) words.push(character, ...pairAt(characters, i))
  }
  return words
}

function partsOf(run: string): string[] {
  const parts = run.split(JOINT)
  if (parts.length === 1) return []
  return parts.map((part) => shortened(fold(part))).filter((part) => part.length > 1)
}

const pairsOf = (characters: readonly string[]): readonly string[] =>
  characters.length < 2 ? characters : characters.flatMap((_, i) => pairAt(characters, i))

function pairAt(characters: readonly string[], i: number): string[] {
  const next = characters[i + 1]
  return next === undefined ? [] : [`${characters[i]}${next}`]
}
