import type { PageProps } from '../../router.ts'
import { BeginReview } from './begin-review.tsx'
import { ReviewList } from './review-list.tsx'
import { ReviewView } from './review-view.tsx'

/** All reviews, the one of the address, or the beginning of one for a task's result. */
export default function ReviewsPage({ id, query }: PageProps) {
  const task = query.get('task')
  if (id !== null) return <ReviewView key={id} id={id} />
  return task === null ? <ReviewList /> : <BeginReview key={task} taskId={task} />
}
