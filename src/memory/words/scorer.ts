import { lengthNorm, saturation } from '../../text/bm25.ts'
import type { Term } from './search-term.ts'
import type { Candidate } from './text-index.ts'

/** Weight of a word by field. */
const FIELDS = { key: 3, tags: 2, value: 1, also: 0.6 }

/** Match of a memory with a query. */
export interface Match {
  /**
   * In (0, 1): how well the memory matches the query, by the importance of its words and their frequency in the memory.
   */
  score: number
  /** In (0, 1]: the share of the query's importance that the memory has. */
  coverage: number
}

/** Indexed words of a memory. */
export type MemoryText = Omit<Candidate, 'seq' | 'value_text'> & { value_text: string }

/**
 * Scores memories by BM25 over fields (BM25F: Robertson and Zaragoza 2009, section 3.6). The score is a share of the
 * highest possible score, so that scores of different queries compare. `tf` sums the words that match a term, by
 * weight.
 *
 * ```formula
 * x = Σ field × weight × tf, and for the value divided by 1 − b + b × words / average
 * score = Σ importance × x / (x + k1) / Σ importance
 * ```
 *
 * @param averageWords average number of words of a value
 * @param mark prefix of each indexed word: see `placeholders.ts`
 */
export function createScorer(terms: readonly Term[], { averageWords, mark }: { averageWords: number; mark: string }) {
  const byWord = new Map<string, Array<{ term: number; weight: number }>>()
  for (const [term, { words }] of terms.entries())
    for (const [word, weight] of words) byWord.set(mark + word, [...(byWord.get(mark + word) ?? []), { term, weight }])
  const asked = terms.reduce((sum, { importance }) => sum + importance, 0)

  const frequency = new Float64Array(terms.length)
  const best = new Float64Array(terms.length)

  function add(text: string, field: number): void {
    for (const word of text.split(' ')) {
      const meant = byWord.get(word)
      if (meant === undefined) continue
      for (const { term, weight } of meant) {
        frequency[term] = (frequency[term] ?? 0) + field * weight
        if (weight > (best[term] ?? 0)) best[term] = weight
      }
    }
  }

  return function score(memory: MemoryText): Match {
    frequency.fill(0)
    best.fill(0)
    add(memory.key_text, FIELDS.key)
    add(memory.tags_text, FIELDS.tags)
    add(memory.also_text, FIELDS.also)
    add(memory.value_text, FIELDS.value / lengthNorm(memory.words, Math.max(1, averageWords)))
    let total = 0
    let covered = 0
    for (let term = 0; term < terms.length; term++) {
      const importance = terms[term]?.importance ?? 0
      total += importance * saturation(frequency[term] ?? 0)
      covered += importance * (best[term] ?? 0)
    }
    return { score: total / asked, coverage: covered / asked }
  }
}
