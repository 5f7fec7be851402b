import type { ReviewRecord } from '../../../../../src/review/review-record.ts'
import { Caller } from '../../components/caller-name.tsx'
import { Badge, Page } from '../../components/content.ts'
import { type Column, figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { count, shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { session } from '../../signed-in.ts'
import { changeName, DECIDED, signedReview } from './signed-review.ts'

/** All reviews of the key, newest first; an admin sees those of all keys. */
export function ReviewList() {
  const page = usePage<ReviewRecord>('/api/reviews', { everyMs: 5000 })
  return (
    <Page
      title="Reviews"
      intro="Changes that people read, how far, and the receipts of it. A key sees the reviews that it began; an admin sees all."
    >
      <ListCard<ReviewRecord>
        label="Reviews"
        list={page}
        loading="the reviews"
        opens="reviews"
        columns={columns()}
        empty={{
          title: 'No reviews yet',
          hint: 'Review the last commit of a repository on this machine, or open a completed task whose reward takes a review.',
          command: 'gazeway review',
        }}
      />
    </Page>
  )
}

const columns = (): Column<ReviewRecord>[] => [
  {
    key: 'change',
    label: 'Change',
    align: 'words',
    render: (review) => (
      <>
        {review.repository} <code>{changeName(review)}</code>
      </>
    ),
  },
  { key: 'decision', label: 'Decision', render: (review) => <DecisionBadge of={review} /> },
  figureColumn('Lines read', (review) => linesRead(review)),
  { key: 'level', label: 'Level', render: (review) => signedReview(review)?.level ?? '—' },
  { key: 'task_id', label: 'Task', render: ({ task_id }) => (task_id === null ? '—' : shortId(task_id)) },
  ...(session.value?.isAdmin
    ? [
        {
          key: 'caller_id',
          label: 'Reader',
          render: (row: ReviewRecord) => <Caller id={row.caller_id} />,
        },
      ]
    : []),
  whenColumn('created_at', 'Begun'),
]

/** Decision of a review, or that it waits for one. */
export function DecisionBadge({ of }: { of: ReviewRecord }) {
  const review = signedReview(of)
  if (review === null) return <Badge tone="warn">waits</Badge>
  const { label, tone } = DECIDED[review.decision]
  return <Badge tone={tone}>{label}</Badge>
}

function linesRead(record: ReviewRecord): string {
  const coverage = signedReview(record)?.coverage
  const lines = record.hunks.reduce((sum, hunk) => sum + hunk.lines, 0)
  return coverage ? `${count(coverage.seen)} of ${count(coverage.lines)}` : `of ${count(lines)}`
}
