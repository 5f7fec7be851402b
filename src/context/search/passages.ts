import type { TextReader } from '../file-excerpt.ts'
import type { ScoredFile } from '../score.ts'
import type { Matches } from './matcher.ts'
import { createPassageFinder, type Passage } from './passage.ts'
import { partsOf } from './text-parts.ts'

/** Matching files whose passages are searched, and how many more while they leave room. Of the others, the context has the names. */
const LOOKED_INTO = 8
const MOST_LOOKED_INTO = 32
/** Share of the budget for all passages, and the largest and smallest for those of one file. */
const PASSAGES_SHARE = 0.8
const MOST = 0.45
const LEAST = 0.03
/** Exponent by which files share: one that matches half as well as the best gets a sixteenth of its room. */
const STEEPNESS = 4
/** Characters of code for each token, fewer than usual: JSON escapes line ends and quotes. */
const CHARACTERS = 3.2

/** A file that became shorter since it was searched has no such part. */
const NOTHING = { text: '', firstLine: 1 }

/**
 * Adds the passages that answer the query to the best matching files, most for the first. Returns all files.
 *
 * @param maxTokens budget of the context
 */
export async function findPassages(
  textOf: TextReader,
  files: ScoredFile[],
  { found: query, part }: Matches,
  maxTokens: number,
): Promise<ScoredFile[]> {
  if (query === null) return files
  const passagesIn = createPassageFinder(query)
  const matching = files.filter(({ terms }) => terms.match > 0).sort((a, b) => b.interest - a.interest)
  const found = new Map<ScoredFile, Passage[]>()

  /** @returns the characters of the file's passages */
  async function look(file: ScoredFile, characters: number): Promise<number> {
    const { text, firstLine } = partsOf((await textOf(file.path)) ?? '')[part.get(file.path) ?? 0] ?? NOTHING
    const matches = passagesIn(text, file.path, characters)
    const passages = matches.length > 0 ? matches : startOf(text, characters)
    found.set(
      file,
      passages.map(({ from, to }) => ({ from: from + firstLine - 1, to: to + firstLine - 1 })),
    )
    return passages.reduce((sum, { from, to }) => sum + charactersOf(text, from, to), 0)
  }

  const budget = maxTokens * CHARACTERS
  let left = budget * PASSAGES_SHARE
  for (let from = 0; from < Math.min(matching.length, MOST_LOOKED_INTO) && left > 0; from += LOOKED_INTO) {
    const some = matching.slice(from, from + LOOKED_INTO)
    const shares = sharesOf(some)
    const room = from === 0 ? budget : left
    const spent = await Promise.all(some.map((file, i) => look(file, room * (shares[i] ?? 0))))
    left -= spent.reduce((sum, characters) => sum + characters, 0)
  }
  return files.map((file) => ({ ...file, passages: found.get(file) ?? [] }))
}

/** First lines of a text of at most so many characters: the passage of a file that matches by its name. */
function startOf(text: string, characters: number): Passage[] {
  const lines = text.slice(0, characters).split('\n')
  const to = lines.length - 1 + Number(text.length <= characters)
  return to > 0 && text !== '' ? [{ from: 1, to }] : []
}

const charactersOf = (text: string, from: number, to: number): number =>
  text
    .split('\n')
    .slice(from - 1, to)
    .join('\n').length

/** Shares of the budget for the passages of files, by how well they match. */
function sharesOf(best: readonly ScoredFile[]): number[] {
  const most = best.reduce((max, { terms }) => Math.max(max, terms.match), 0)
  const parts = best.map(({ terms }) => (terms.match / most) ** STEEPNESS)
  const sum = parts.reduce((a, b) => a + b, 0)
  return parts.map((part) => Math.min(MOST, Math.max(LEAST, (PASSAGES_SHARE * part) / sum)))
}
