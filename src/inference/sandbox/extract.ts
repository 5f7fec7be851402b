import { inverseFrequency, lengthNorm, saturation } from '../../text/bm25.ts'
import { normalized } from '../../text/normalize-text.ts'
import { isStopWord } from '../../text/stop-words.ts'

/** A word or number. Each Han or kana character counts by itself, as those scripts do not space words. */
const TERM = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu

/**
 * End of a sentence: a line break, a CJK full stop, or `.`, `!`, `?` before white space and a capital, digit or opening
 * mark. `Intl.Segmenter` covers more languages but is far too slow on long texts in Node 20.
 */
const SENTENCE_END = /\n|(?<=[。！？])|(?<=[.!?]["')\]]?)\s+(?=[\p{Lu}\p{N}"'([`])/u

/** Splits `text` into trimmed, non-empty sentences, in order. */
export function sentencesOf(text: string): string[] {
  return text
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
}

/** Words of `text` that carry meaning: lower case, without stop words and plural `s`. */
export function termsOf(text: string): string[] {
  const words = normalized(text, 'NFKC').toLowerCase().match(TERM) ?? []
  return words.filter((word) => !isStopWord(word)).map(singular)
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

/** A sentence with its score and original position. */
export interface Ranked {
  sentence: string
  score: number
  position: number
}

/**
 * Ranks the sentences that share words with `question`, best first. Equal scores keep their order; repeated sentences
 * count once. The score is BM25 with sentences as documents.
 */
export function rankSentences(question: string, sentences: string[]): Ranked[] {
  const wanted = new Set(termsOf(question))
  const documents = [...new Set(sentences)].map((sentence) => ({ sentence, terms: termsOf(sentence) }))
  const averageLength = documents.reduce((sum, { terms }) => sum + terms.length, 0) / documents.length || 1
  const frequency = new Map<string, number>()
  for (const { terms } of documents) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  }

  const scoreOf = (terms: string[]) => {
    const norm = lengthNorm(terms.length, averageLength)
    const counts = new Map<string, number>()
    for (const term of terms) if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1)
    return [...counts].reduce((score, [term, count]) => {
      const importance = inverseFrequency(documents.length, frequency.get(term) ?? 0)
      return score + importance * saturation(count, norm)
    }, 0)
  }

  return documents
    .map(({ sentence, terms }, position) => ({ sentence, score: scoreOf(terms), position }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.position - b.position)
}

/** The `limit` most frequent words of `texts`, most frequent first. Equal counts keep their order. */
export function keywordsOf(texts: string[], limit: number): string[] {
  const counts = new Map<string, number>()
  for (const term of texts.flatMap(termsOf)) {
    if (term.length > 2) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, limit)
    .map(([term]) => term)
}

/** Shortens `text` to one line of at most `max` characters, cut after a word and marked with an ellipsis. */
export function clip(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  return `${line.slice(0, max - 1).replace(/\s\S*$|[\uD800-\uDBFF]$/, '')}…`
}
