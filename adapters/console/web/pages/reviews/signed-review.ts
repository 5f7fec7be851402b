import type { ReviewRecord } from '../../../../../src/review/review-record.ts'
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
