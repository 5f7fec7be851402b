import type { ScoredFile } from './score.ts'
import type { Matches } from './search/matcher.ts'

/**
 * Smallest share of a question's terms, weighted by rarity, that a file needs to be sent with the question. Files
 * rarely hold half of an unrelated question.
 */
const FLOOR = 0.5
/** Factor on this share for a file with attention or changes. */
const FLOOR_OF_WORK = 0.7
/**
 * Terms up to which the share holds. For longer questions it is smaller, since even the right file has a smaller share.
 */
const SHORT = 8

/** Selects the files that a question is about. Only these may be sent to another machine with it. */
export function relatedFiles(files: readonly ScoredFile[], { found, share }: Matches): ScoredFile[] {
  if (found === null) return []
  const floor = FLOOR * Math.cbrt(SHORT / Math.max(SHORT, found.terms.length))
  return files.filter((file) => {
    const isWork = file.attention !== null || file.change !== null
    return file.terms.match > 0 && (share.get(file.path) ?? 0) >= (isWork ? floor * FLOOR_OF_WORK : floor)
  })
}
