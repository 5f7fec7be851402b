import { stemOf } from '../../text/stem.ts'
import { withoutStopWords } from '../../text/stop-words.ts'
import { isUnspaced } from '../../text/words.ts'
import { fuzzyMatches } from './fuzzy-matches.ts'
import { type IndexedWord, wordsIn } from './indexed-words.ts'
import type { MemoryWords, StoredWord } from './memory-words.ts'
import { type Alternative, type Term, termOf } from './search-term.ts'
import { splitCompounds } from './split-compound.ts'
import { typosAllowed } from './typos.ts'

/** Maximum number of words of a query that are used; further words add cost without meaning. */
const MAX_WORDS = 24
/** Maximum number of unknown words of a query that are split or corrected, because each can take milliseconds. */
const MAX_RESPELLED = 4
const MAX_SIMILAR = 5
/** Longest word that does not match longer words by its beginning: too many begin with it. */
const SHORT = 2

/** Weight of a word with the same stem, and of a word that ends with the query's word. */
const SAME_STEM = 0.9
const ENDING = 0.5
/** Weight of a word that begins with the query's word. It falls with the word's length. */
const BEGINNING = { most: 0.9, least: 0.5 }

/** The words of a space, which expand queries. */
interface Vocabulary {
  words: MemoryWords
  space: number
  /** Number of memories in the space. */
  held: number
}

/**
 * Expands a query into terms. Stop words are dropped. Two neighbours become one word if memories hold them as one. Each
 * word matches:
 *
 * - itself, words with the same stem, and words that begin with it
 * - if no memory holds any of those, substitutes. The first kind that some memory holds is used: compounds that end
 *   with it; its own parts; words within one typo (from 4 letters) or two (from 8), unless it has a digit
 */
export async function meaningOf(
  query: string,
  { words, space, held: counting }: Omit<Vocabulary, 'held'> & { held: Promise<number> },
): Promise<Term[]> {
  const typed = distinct(query)
  const lookups = [...typed.flatMap(({ text, parts }) => [text, ...parts]), ...joints(typed)]
  // Most need no second lookup, which waits for the first.
  const likely = withoutStopWords(typed).map(({ text }) => text)
  const [alike, held, begun] = await Promise.all([
    words.alike(space, lookups),
    counting,
    words.begunWith(
      space,
      likely.filter((text) => !isUnspaced(text) && text.length > SHORT),
    ),
  ])
  const known = groupByStem(alike)
  const same = (text: string) => known.get(stemOf(text)) ?? []
  const kept = withoutStopWords(joined(typed, (text) => same(text).some(({ word }) => word === text)))
  const texts = [...new Set(kept.flatMap((word) => (isKnown(word, same) ? [word.text] : word.parts)))]
  const taking = new Set(texts.filter((text) => takesMore(text, same(text))))
  const others = [...taking].filter((text) => !begun.has(text))
  const longerThan = new Map([...begun, ...(await words.begunWith(space, others))])

  const terms = texts.map((text) => {
    const stems = same(text).map((it) => weighed(it, it.word === text ? 1 : SAME_STEM))
    const longer = (taking.has(text) ? (longerThan.get(text) ?? []) : []).map((it) =>
      weighed(it, shareOf(text, it.word)),
    )
    return termOf(text, { found: [...stems, ...longer], counted: stems.length > 0 ? stems : longer, held })
  })
  const unknown = terms.filter((term) => term.words.size === 0 && !isUnspaced(term.text)).slice(0, MAX_RESPELLED)
  const respelled = await substitutes(
    unknown.map(({ text }) => text),
    { words, space, held },
  )
  return terms.flatMap((term) => respelled.get(term.text) ?? term)
}

/** Finds substitutes for words that no memory holds. */
async function substitutes(texts: readonly string[], { words, space, held }: Vocabulary): Promise<Map<string, Term[]>> {
  if (texts.length === 0) return new Map()
  const [ended, compounds] = await Promise.all([
    words.endingWith(space, texts),
    splitCompounds(texts, (some) => words.alike(space, some)),
  ])
  const found = texts.map(async (text): Promise<[string, Term[]]> => {
    const longer = (ended.get(text) ?? []).map((it) => weighed(it, ENDING))
    if (longer.length > 0) return [text, [termOf(text, { found: longer, counted: longer, held })]]
    const parts = (compounds.get(text) ?? []).map((part) => weighed(part, 1))
    if (parts.length > 0) return [text, parts.map((it) => termOf(it.word, { found: [it], counted: [it], held }))]
    return [text, [await corrected(text, { words, space, held })]]
  })
  return new Map(await Promise.all(found))
}

/** Corrects the typos of a word. */
async function corrected(text: string, { words, space, held }: Vocabulary): Promise<Term> {
  const typos = typosAllowed(text)
  const near = typos === 0 ? [] : fuzzyMatches(text, typos, await words.maybe(space, text, typos))
  const closest = near.filter((it) => near[0]?.typos !== 1 || it.typos === 1).slice(0, MAX_SIMILAR)
  const found = closest.map((it) => weighed(it, similarity(text, it.typos)))
  return termOf(text, { found, counted: found, held })
}

function distinct(query: string): IndexedWord[] {
  const words = new Map<string, IndexedWord>()
  for (const word of wordsIn(query)) {
    if (!words.has(word.text)) words.set(word.text, word)
    if (words.size >= MAX_WORDS) break
  }
  return [...words.values()]
}

/** Joins each two neighbours into one word: "log in" can match a stored "login". */
const joints = (words: readonly IndexedWord[]): string[] =>
  words.slice(1).flatMap(({ text }, i) => {
    const before = words[i]?.text ?? ''
    return isUnspaced(text) || isUnspaced(before) ? [] : [before + text]
  })

/** Replaces two neighbours by one word where memories hold them as one. */
function joined(words: readonly IndexedWord[], isHeld: (word: string) => boolean): IndexedWord[] {
  const found: IndexedWord[] = []
  for (let i = 0; i < words.length; i++) {
    const [joint] = joints(words.slice(i, i + 2))
    const isOne = joint !== undefined && isHeld(joint)
    found.push(isOne ? { text: joint, parts: [] } : (words[i] as IndexedWord))
    if (isOne) i++
  }
  return found
}

function groupByStem(words: readonly StoredWord[]): Map<string, StoredWord[]> {
  const groups = new Map<string, StoredWord[]>()
  for (const word of words) groups.set(word.stem, [...(groups.get(word.stem) ?? []), word])
  return groups
}

const isKnown = ({ text, parts }: IndexedWord, same: (text: string) => StoredWord[]): boolean =>
  parts.length === 0 || same(text).length > 0

const takesMore = (text: string, same: readonly StoredWord[]): boolean =>
  !isUnspaced(text) && !(same.length > 0 && text.length <= SHORT)

const weighed = ({ word, memories }: StoredWord, weight: number): Alternative => ({ word, memories, weight })

/** At least 0.5, by the lengths that `typosAllowed` asks for. A typo in a short word is more often another word. */
const similarity = (text: string, typos: number): number => 1 - (2 * typos) / [...text].length

const shareOf = (beginning: string, word: string): number =>
  Math.max(BEGINNING.least, (BEGINNING.most * beginning.length) / word.length)
