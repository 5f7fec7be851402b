import type { ReviewRecord } from '../../../../../src/review/review-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Card, Copy, ErrorNote, Facts, NotLoaded, Page } from '../../components/content.ts'
import { Primary } from '../../components/forms.ts'
import { useAction } from '../../components/use-action.ts'
import { percent } from '../../format.ts'
import { go, href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { deliveredBy, lengthOf } from './delivered-change.ts'
import { ALL_REVIEWS } from './signed-review.ts'

/** Begins the review of a task's result, for the one who pays. */
export function BeginReview({ taskId }: { taskId: string }) {
  const task = useLive<Task>(`/api/tasks/${encodeURIComponent(taskId)}`, { everyMs: 60_000 })
  const { busy, error, run } = useAction()
  const { data } = task
  if (data === null)
    return (
      <Page title="Review" back={ALL_REVIEWS}>
        <NotLoaded of={task} what="the task" />
      </Page>
    )
  const delivered = deliveredBy(data)
  const begin = async () => {
    const body = { ...delivered, task_id: data.id }
    const { id } = await api.post<ReviewRecord>('/api/reviews', body, { timeoutMs: PATIENT_MS })
    go(href('reviews', { id }))
  }
  return (
    <Page
      title={`Review: ${data.title}`}
      intro="The reward is released by a review of what was delivered: read the change, then approve it."
      actions={<a href={href('tasks', { id: data.id })}>The task</a>}
    >
      <ErrorNote error={error} />
      <Card
        title="The result"
        actions={
          delivered !== null && <Primary busy={busy} onClick={() => void run(begin)} children="Read the change" />
        }
      >
        <Facts of={{ Delivered: delivered && lengthOf(delivered), Asked: askedOf(data), By: data.agent }} />
        {delivered === null && <Elsewhere task={data} />}
      </Card>
    </Page>
  )
}

const askedOf = ({ review }: Task): string | null =>
  review && `${percent(review.coverage)} of the lines read, at the level “${review.level}”`

/** Says how to read a result that names commits alone. */
function Elsewhere({ task }: { task: Task }) {
  return (
    <div class="stack">
      <p>
        The result does not have the lines of the change, and this platform has no repository. Read it in a clone that
        has its commits, with a key that pays:
      </p>
      <p>
        <Copy text={`gazeway --remote ${location.origin} review --task ${task.id}`} />
      </p>
      <p class="hint">
        The command names the review afterwards; release the escrow with it. An agent that completes a task with what
        “gazeway review change BASE..HEAD” prints delivers the lines, too.
      </p>
    </div>
  )
}
