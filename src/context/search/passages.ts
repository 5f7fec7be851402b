import { readText } from '../file-excerpt.ts'
import type { ScoredFile } from '../score.ts'
import { passageIn } from './passage.ts'
import type { QueryTerms } from './query-terms.ts'

/** Files whose passage is looked for: more excerpts than that never fit. */
const LOOKED_INTO = 24
const BYTES = 256 * 1024

/** The files again, the best matches with the passage that answers the query. */
export async function findPassages(root: string, files: ScoredFile[], query: QueryTerms): Promise<ScoredFile[]> {
  const best = files
    .filter(({ terms }) => terms.match > 0)
    .sort((a, b) => b.interest - a.interest)
    .slice(0, LOOKED_INTO)
  const found = new Map(
    await Promise.all(best.map(async (file) => [file, await withPassage(root, file, query)] as const)),
  )
  return files.map((file) => found.get(file) ?? file)
}

async function withPassage(root: string, file: ScoredFile, query: QueryTerms): Promise<ScoredFile> {
  const text = await readText(root, file.path, BYTES)
  const passage = text === null ? null : passageIn(text, file.path, query)
  return passage === null ? file : { ...file, passage: { ...passage, match: file.terms.match } }
}
