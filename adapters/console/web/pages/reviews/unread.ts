import { lineNumbersOf } from '../../../../../src/review/line-numbers.ts'
import type { ReviewWithParts } from '../../../../../src/review/review-record.ts'
import { signedReview } from './signed-review.ts'

/** A hunk or an item that was not read to its end. */
export interface Unread {
  /** `path:first-last` of the new file, or the path and the kind of an item. */
  place: string
  seen: number
  lines: number
  /** Index among the parts of the change. */
  at: number
}

/** Lists what was not read to its end: as the receipt says, or so far. */
export function unreadOf(review: ReviewWithParts): Unread[] {
  const read = signedReview(review)?.coverage.hunks ?? review.reading.parts
  return review.parts.flatMap((part, at) => {
    const { seen = 0, lines = part.lines } = read[at] ?? {}
    if (seen >= lines) return []
    if (part.kind !== 'hunk') return [{ place: `${part.path} (${part.kind})`, seen, lines, at }]
    const numbers = lineNumbersOf(part.rows).filter((_, row) => part.rows[row]?.kind !== ' ')
    return [{ place: `${part.path}:${rangeOf(numbers)}`, seen, lines, at }]
  })
}

const rangeOf = (numbers: readonly number[]): string =>
  numbers[0] === numbers.at(-1) ? `${numbers[0]}` : `${numbers[0]}-${numbers.at(-1)}`
