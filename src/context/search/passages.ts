import type { TextReader } from '../file-excerpt.ts'
import type { ScoredFile } from '../score.ts'
import type { Matches } from './matcher.ts'
import { partsOf } from './parts.ts'
import { createPassageFinder, type Passage } from './passage.ts'

/** Maximum number of files whose passages are searched; more excerpts never fit. */
const LOOKED_INTO = 24
/** The best files, and the passages that each of them may have. The others have one. */
const LEADING = 3
const PASSAGES = 3

/** A file that became shorter since it was searched has no such part. */
const NOTHING = { text: '', firstLine: 1 }

/** Adds the passages that answer the query to the best matching files. Returns all files. */
export async function findPassages(
  textOf: TextReader,
  files: ScoredFile[],
  { found: query, part }: Matches,
): Promise<ScoredFile[]> {
  if (query === null) return files
  const passagesIn = createPassageFinder(query)
  const best = files
    .filter(({ terms }) => terms.match > 0)
    .sort((a, b) => b.interest - a.interest)
    .slice(0, LOOKED_INTO)
  const found = new Map<ScoredFile, Passage[]>()
  await Promise.all(
    best.map(async (file, i) => {
      const { text, firstLine } = partsOf((await textOf(file.path)) ?? '')[part.get(file.path) ?? 0] ?? NOTHING
      const passages = passagesIn(text, file.path, i < LEADING ? PASSAGES : 1)
      found.set(
        file,
        passages.map(({ from, to }) => ({ from: from + firstLine - 1, to: to + firstLine - 1 })),
      )
    }),
  )
  return files.map((file) => ({ ...file, passages: found.get(file) ?? [] }))
}
