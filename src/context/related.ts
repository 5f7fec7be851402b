import type { ScoredFile } from './score.ts'
import type { Matches } from './search/matcher.ts'

/**
 * The share of a question that a file has to have before it is sent with it. Unrelated questions rarely find half of their
 * words, weighed by rarity, in one file of a project.
 */
const FLOOR = 0.5
/** The same, relative to that, for a file that the person looks at or has changed. */
const FLOOR_OF_WORK = 0.7
/** Of longer questions even the right file has a smaller share. */
const SHORT = 8

/** The files that a question is about: those that may be sent to somebody else's machine with it. */
export function relatedFiles(files: readonly ScoredFile[], { found, share }: Matches): ScoredFile[] {
  if (found === null) return []
  const floor = FLOOR * Math.cbrt(SHORT / Math.max(SHORT, found.terms.length))
  return files.filter((file) => {
    const isWork = file.attention !== null || file.change !== null
    return file.terms.match > 0 && (share.get(file.path) ?? 0) >= (isWork ? floor * FLOOR_OF_WORK : floor)
  })
}
