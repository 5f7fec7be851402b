import type { ReviewWithParts } from '../../../../../src/review/review-record.ts'
import type { Review } from '../../../../../src/review/statement.ts'
import { Caller } from '../../components/caller-name.tsx'
import { Card, Copy, Empty, ErrorNote, Facts, Grid, Page, Verbatim, When } from '../../components/content.ts'
import { Button } from '../../components/forms.ts'
import { type Column, DataTable, figureColumn } from '../../components/lists.ts'
import { useAction } from '../../components/use-action.ts'
import { count, duration, percent, shortId } from '../../format.ts'
import { visible } from '../../review/line-text.tsx'
import { href } from '../../router.ts'
import type { Payment } from './console-reading.ts'
import { DecisionBadge } from './review-list.tsx'
import { ALL_REVIEWS, changeName, signedReview, type Unread, unreadOf } from './signed-review.ts'

/**
 * A review that this key does not read: its receipt, its level, and what was not read.
 *
 * @param props.payment reward that is still locked, for the one who pays
 * @param props.fault error of the last attempt to pay
 */
export function ReceiptView(props: {
  review: ReviewWithParts
  payment: Payment | null
  fault: unknown
  onPay: () => Promise<void>
}) {
  const { review, payment, fault, onPay } = props
  const signed = signedReview(review)
  return (
    <Page
      title="Review"
      intro={
        <>
          <DecisionBadge of={review} /> <code>{changeName(review)}</code> {review.repository}
        </>
      }
      back={ALL_REVIEWS}
    >
      <ErrorNote error={fault} />
      {payment !== null && signed?.decision === 'approve' && <PayCard payment={payment} onPay={onPay} />}
      <Grid>
        <Card title="Receipt">
          {signed === null ? <Empty title="Not decided" hint="The key that began it reads and decides." /> : null}
          <ReceiptFacts review={review} signed={signed} />
        </Card>
        <div class="stack">
          <Card title="Not read to its end">
            <UnreadTable unread={unreadOf(review)} />
          </Card>
          {signed?.comments && (
            <Card title="Comments">
              <ul class="plain-list">
                {signed.comments.map((comment) => (
                  <li key={comment}>
                    {comment.path !== null && <code>{visible(placeOf(comment))} </code>}
                    {visible(comment.text)}
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      </Grid>
    </Page>
  )
}

function ReceiptFacts({ review, signed }: { review: ReviewWithParts; signed: Review | null }) {
  const { head, task_id, receipt } = review
  return (
    <>
      <Facts
        of={{
          Subject: <Commit id={head.commit} tree={head.tree} />,
          Reviewer: signed?.reviewer.id,
          Level: signed?.level,
          Coverage: signed && coverageOf(signed),
          'Read for': duration(signed?.times.active_ms ?? review.reading.active_ms),
          Plausibility: signed?.evidence.plausibility != null && percent(signed.evidence.plausibility),
          Reasons: signed && signed.evidence.reasons.length > 0 && signed.evidence.reasons.join('; '),
          Checks: signed && signed.checks.length > 0 && signed.checks.join(', '),
          'Key of the reader': <Caller id={review.caller_id} />,
          Task: task_id && <a href={href('tasks', { id: task_id })}>{shortId(task_id)}</a>,
          Begun: <When at={review.created_at} />,
          Decided: review.decided_at && <When at={review.decided_at} />,
          Countersigned: signed?.observer && <code>{signed.observer.keyid}</code>,
          Session: <a href={href('attention', { id: review.session_id })}>its gaze records</a>,
          Id: <Copy text={review.id} isShort />,
        }}
      />
      <p class="hint">“Read” says that lines were on a screen for long enough, and nothing of what was understood.</p>
      {receipt !== null && (
        <details>
          <summary>The receipt as JSON, without the signature of its reviewer</summary>
          <Verbatim label="Text of the receipt" text={receipt} />
        </details>
      )}
    </>
  )
}

function Commit({ id, tree }: { id: string | null; tree: string }) {
  return (
    <>
      <code>{id?.slice(0, 10) ?? 'not committed'}</code>, tree <code>{tree.slice(0, 10)}</code>
    </>
  )
}

const coverageOf = ({ coverage: { lines, seen } }: Review): string =>
  `${count(seen)} of ${count(lines)} lines${lines === 0 ? '' : `, ${percent(seen / lines)}`}`

const placeOf = ({ path, line }: { path: string | null; line: number | null }): string =>
  line === null ? `${path}` : `${path}:${line}`

const UNREAD: Column<Unread>[] = [
  { key: 'place', label: 'Place', align: 'words', render: ({ place }) => <code>{visible(place)}</code> },
  figureColumn('Read', ({ seen, lines }) => `${count(seen)} of ${count(lines)}`),
]

function UnreadTable({ unread }: { unread: readonly Unread[] }) {
  return (
    <DataTable<Unread>
      label="Not read to its end"
      rows={unread}
      rowKey={({ place, at }) => `${at} ${place}`}
      columns={UNREAD}
      empty="Every line was read"
    />
  )
}

/** Pays for an approved result whose payment did not go through. */
function PayCard({ payment, onPay }: { payment: Payment; onPay: () => Promise<void> }) {
  const { busy, error, run } = useAction()
  return (
    <Card title={`${payment.amount} wait for ${payment.to}`}>
      <ErrorNote error={error} />
      <div class="actions">
        <Button tone="primary" busy={busy} onClick={() => void run(onPay)}>
          Pay {payment.amount}
        </Button>
        <a href={href('reviews', { query: { task: payment.task.id } })}>Review it again</a>
      </div>
    </Card>
  )
}
