import { lineNumbersOf } from '../../../../../src/review/line-numbers.ts'
import type { ReviewRecord, ReviewWithParts } from '../../../../../src/review/review-record.ts'
import type { Review } from '../../../../../src/review/statement.ts'
import { href } from '../../router.ts'

/** Reads the content of a review's receipt; null before the decision. */
export function signedReview({ receipt }: Pick<ReviewRecord, 'receipt'>): Review | null {
  if (receipt === null) return null
  const bytes = Uint8Array.from(atob(receipt.envelope.payload), (character) => character.charCodeAt(0))
  return (JSON.parse(new TextDecoder().decode(bytes)) as { predicate: Review }).predicate
}

/** Names a change by the beginnings of its commits. */
export const changeName = ({ base, head }: Pick<ReviewRecord, 'base' | 'head'>): string =>
  `${base.commit.slice(0, 10)} … ${head.commit?.slice(0, 10) ?? 'not committed'}`

/** The list that pages of reviews lead back to. */
export const ALL_REVIEWS = { label: 'All reviews', href: href('reviews') }

/** Labels of decisions. */
export const DECIDED = {
  approve: { label: 'approved', tone: 'good' },
  request_changes: { label: 'changes asked for', tone: 'bad' },
  comment: { label: 'commented', tone: 'neutral' },
} as const satisfies Record<Review['decision'], { label: string; tone: string }>

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
