import type { TextReader } from '../file-excerpt.ts'
import type { ScoredFile } from '../score.ts'
import { createPassageFinder, type Passage } from './passage.ts'
import type { QueryTerms } from './query-terms.ts'

/** Maximum number of files whose passage is searched; more excerpts never fit. */
const LOOKED_INTO = 24

/** Adds the passage that answers the query to the best matching files. Returns all files. */
export async function findPassages(textOf: TextReader, files: ScoredFile[], query: QueryTerms): Promise<ScoredFile[]> {
  const passageIn = createPassageFinder(query)
  const best = files
    .filter(({ terms }) => terms.match > 0)
    .sort((a, b) => b.interest - a.interest)
    .slice(0, LOOKED_INTO)
  const found = new Map<ScoredFile, Passage | null>()
  await Promise.all(
    best.map(async (file) => {
      const text = await textOf(file.path)
      found.set(file, text === null ? null : passageIn(text, file.path))
    }),
  )
  return files.map((file) => {
    const passage = found.get(file)
    return passage ? { ...file, passage: { ...passage, match: file.terms.match } } : file
  })
}
