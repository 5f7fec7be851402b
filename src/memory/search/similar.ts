import type { Kysely } from 'kysely'
import * as z from 'zod'
import type { Schema } from '../../store/schema.ts'
import { stemOf } from '../../text/stem.ts'
import { withoutStopWords } from '../../text/stop-words.ts'
import { textOf } from '../../text/words.ts'
import type { MemoryInput } from '../records/memory-record.ts'
import { wordsIn } from '../words/indexed-words.ts'
import type { MemoryWords } from '../words/memory-words.ts'
import { markOf } from '../words/placeholders.ts'
import { createScorer } from '../words/scorer.ts'
import { type Term, termOf } from '../words/search-term.ts'
import type { TextIndex } from '../words/text-index.ts'
import type { Wanted } from '../words/text-matcher.ts'
import type { SearchScope } from './memory-search.ts'

/** Maximum number of characters and words of a value that are compared. */
const MAX_CHARACTERS = 2000
const MAX_WORDS = 24
/** Maximum number of rare words that are looked up, and most memories that may hold each. */
const MAX_TELLING = 6
const MAX_HELD = 200
const MAX_CANDIDATES = 50
/** Smallest share of a memory's words that a similar one has, and most similar memories that are returned. */
const ALIKE = 0.6
const MAX_NAMED = 3

/** A memory that says nearly the same as another. */
export const Similar = z.object({
  key: z.string(),
  namespace: z.string(),
  score: z.number().describe('Share of the stored memory that the new one repeats, 0.6 to 1.'),
})
export type Similar = z.infer<typeof Similar>

/**
 * Finds memories that say nearly the same as a new one. They share three fifths of the words of its key and of the
 * beginning of its value, weighted by importance. Inflections count as equal; synonyms do not.
 */
export function createSimilar({ db, index, words }: { db: Kysely<Schema>; index: TextIndex; words: MemoryWords }) {
  async function termsOf(text: string, { filter, held }: SearchScope): Promise<Term[]> {
    const asked = [...new Set(withoutStopWords([...wordsIn(text)]).map((word) => word.text))].slice(0, MAX_WORDS)
    const alike = await words.alike(filter.space, asked)
    return asked.map((word) => {
      const stem = stemOf(word)
      const found = alike.filter((other) => other.stem === stem).map((other) => ({ ...other, weight: 1 }))
      return termOf(word, { found, counted: found, held })
    })
  }

  async function named(hits: ReadonlyArray<{ seq: number; score: number }>) {
    const seqs = hits.map(({ seq }) => seq)
    const rows = await db
      .selectFrom('memories')
      .select(['seq', 'key', 'namespace', 'project'])
      .where('seq', 'in', seqs)
      .execute()
    return hits.flatMap(({ seq, score }) => rows.filter((row) => row.seq === seq).map((row) => ({ ...row, score })))
  }

  return async function similar(
    { key, namespace, value, supersedes, project = null }: MemoryInput,
    scope: SearchScope,
  ): Promise<Similar[]> {
    const terms = await termsOf(`${key}\n${textOf(value).slice(0, MAX_CHARACTERS)}`, scope)
    const telling = terms
      .filter(({ memories }) => memories > 0 && memories <= MAX_HELD)
      .sort((a, b) => a.memories - b.memories)
      .slice(0, MAX_TELLING)
    if (telling.length === 0) return []
    const groups = telling.map((term) => [...term.words.keys()])
    const wanted: Wanted = { match: 'any', groups, where: 'everywhere' }
    const candidates = await index.candidates(wanted, scope.filter, MAX_CANDIDATES)
    const scoreOf = createScorer(terms, { averageWords: scope.averageWords, mark: markOf(scope.filter.space) })
    const alike = candidates
      // Words of long values are not loaded here; key and tags must suffice.
      .map((memory) => ({ seq: memory.seq, ...scoreOf({ ...memory, value_text: memory.value_text ?? '' }) }))
      .map(({ seq, coverage }) => ({ seq, score: Number(coverage.toFixed(4)) }))
      .filter(({ score }) => score >= ALIKE)
      .sort((a, b) => b.score - a.score || b.seq - a.seq)
    if (alike.length === 0) return []
    const replaced = [key, ...(supersedes === undefined ? [] : [supersedes])]
    return (await named(alike.slice(0, MAX_NAMED + replaced.length)))
      .filter((other) => other.namespace !== namespace || other.project !== project || !replaced.includes(other.key))
      .slice(0, MAX_NAMED)
      .map(({ seq, project, ...other }) => other)
  }
}
