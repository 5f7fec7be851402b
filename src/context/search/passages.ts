import type { TextReader } from '../file-excerpt.ts'
import type { ScoredFile } from '../score.ts'
import { createPassageFinder, type Passage } from './passage.ts'
import type { QueryTerms } from './query-terms.ts'

/** Maximum number of files whose passages are searched; more excerpts never fit. */
const LOOKED_INTO = 24
/** The best files, and the passages that each of them may have. The others have one. */
const LEADING = 3
const PASSAGES = 3

/** Adds the passages that answer the query to the best matching files. Returns all files. */
export async function findPassages(textOf: TextReader, files: ScoredFile[], query: QueryTerms): Promise<ScoredFile[]> {
  const passagesIn = createPassageFinder(query)
  const best = files
    .filter(({ terms }) => terms.match > 0)
    .sort((a, b) => b.interest - a.interest)
    .slice(0, LOOKED_INTO)
  const found = new Map<ScoredFile, Passage[]>()
  await Promise.all(
    best.map(async (file, i) => {
      const text = await textOf(file.path)
      found.set(file, text === null ? [] : passagesIn(text, file.path, i < LEADING ? PASSAGES : 1))
    }),
  )
  return files.map((file) => ({ ...file, passages: found.get(file) ?? [] }))
}
