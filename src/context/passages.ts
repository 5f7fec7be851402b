import { linesAround, readText } from './file-excerpt.ts'
import { interestOf } from './interest.ts'
import { languageOf } from './language.ts'
import type { QueryMatcher } from './query-matcher.ts'
import { byInterest, type ScoredFile } from './score.ts'

/** Files whose text is searched: the most interesting so far, the shallowest of the rest. */
const SEARCHED = 64
const SEARCHED_BYTES = 64 * 1024

/** The files again, those whose text matches the query with the passage and the interest that this adds. */
export async function findPassages(root: string, files: ScoredFile[], matcher: QueryMatcher): Promise<ScoredFile[]> {
  const searched = files
    .filter((file) => languageOf(file.path) !== null)
    .sort(byInterest)
    .slice(0, SEARCHED)
  const found = new Map(
    await Promise.all(searched.map(async (file) => [file, await searchFile(root, file, matcher)] as const)),
  )
  return files.map((file) => found.get(file) ?? file)
}

async function searchFile(root: string, file: ScoredFile, matcher: QueryMatcher): Promise<ScoredFile> {
  const text = await readText(root, file.path, SEARCHED_BYTES)
  const { match, line } = matcher.matchText(text ?? '')
  if (match === 0) return file
  const terms = { ...file.terms, match: Math.max(file.terms.match, match) }
  return { ...file, terms, interest: interestOf(terms), passage: { ...linesAround(text ?? '', line), match } }
}
