import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task, TaskStats } from '../../../../../src/tasks/task-record.ts'
import { Caller, callerOptions } from '../../components/caller-name.tsx'
import { Countdown, Grid, NotLoaded, Page, Stat, When } from '../../components/content.ts'
import { ALL, useFilters } from '../../components/forms.ts'
import { Exact } from '../../components/inline.tsx'
import { curlOf } from '../../components/layout.tsx'
import { type Column, figureColumn, ListCard } from '../../components/lists.ts'
import { shortId, usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { useTasks } from '../tasks/find-task.ts'
import { TaskStory } from '../tasks/task-story.tsx'
import { ESCROW_STATUSES, EscrowState } from './escrow-state.tsx'
import { EscrowActions, type EscrowAsked, EscrowDialog } from './move-escrow.tsx'

/** Locked, released and refunded rewards of tasks, or one of them. */
export default function EscrowPage({ id, query }: PageProps) {
  return id === null ? <EscrowList query={query} /> : <EscrowStory key={id} id={id} />
}

/** An escrow, within the history of its task. */
function EscrowStory({ id }: { id: string }) {
  const live = useLive<Escrow>(`/api/wallet/escrow/${encodeURIComponent(id)}`)
  const back = { label: 'Escrow', href: href('escrow') }
  if (live.data) return <TaskStory id={live.data.task_id} back={back} />
  return (
    <Page title="Escrow" back={back}>
      <NotLoaded of={live} what="the escrow" />
    </Page>
  )
}

function EscrowList({ query }: { query: URLSearchParams }) {
  const filters = useFilters(query, ['status', 'payer'], ['escrow'], { status: STATUSES })
  const page = usePage<Escrow>(`/api/wallet/escrow${filters.asked}`)
  const stats = useLive<TaskStats>('/api/tasks/stats')
  const tasks = useTasks(page.items.map(({ task_id }) => task_id))
  // Outside the table, so that the dialog stays when its row moves to another page.
  const [moving, setMoving] = useState<EscrowAsked | null>(null)
  const reload = () => {
    page.reload()
    stats.reload()
  }
  const reward = stats.data?.reward_usd
  return (
    <Page
      title="Escrow"
      intro="A reward is locked when its task is created, and released to the agent that completed the task, against an attestation of attention."
    >
      {reward && (
        <Grid of="figures">
          <Stat
            label="Locked now"
            href={rowsOf('live')}
            value={usd(reward.locked)}
            hint="including expired escrows"
            tone="accent"
          />
          <Stat label="Paid out" href={rowsOf('paid')} value={usd(reward.paid)} tone="good" />
          <Stat label="Refunded" href={rowsOf('refunded')} value={usd(reward.refunded)} />
        </Grid>
      )}
      <ListCard<Escrow, typeof filters.draft>
        title="Escrows"
        filters={{
          ...filters,
          one: 'escrow',
          fields: [
            { name: 'status', label: 'Status', options: STATUSES },
            { name: 'payer', label: 'From', options: [ALL, ...callerOptions(filters.draft.payer)] },
          ],
        }}
        label="Escrows, newest first"
        list={page}
        error={page.error ?? stats.error}
        onRetry={reload}
        opens="escrow"
        columns={columnsFor(tasks, setMoving)}
        empty={{
          title: 'No escrows yet',
          hint: 'Creating a task with a reward locks the reward here.',
          command: curlOf('/api/tasks', { title: 'Summarise the week', reward_usd: 1 }),
          action: <a href={href('tasks')}>Go to Tasks</a>,
        }}
      />
      {moving && <EscrowDialog asked={moving} onMoved={reload} onClose={() => setMoving(null)} />}
    </Page>
  )
}

const STATUSES = [
  ALL,
  { value: 'live', label: 'locked or expired' },
  { value: 'paid', label: 'released or settled' },
  ...ESCROW_STATUSES.map((status) => ({ value: status, label: status })),
]

/** List of the escrows that a sum of all rewards counts. The sums of a key that is no admin's count its own tasks. */
const rowsOf = (status: string) => (session.value?.isAdmin ? href('escrow', { query: { status } }) : undefined)

const columnsFor = (
  tasks: ReadonlyMap<string, Task>,
  onAsk: (asked: EscrowAsked) => void,
): readonly Column<Escrow>[] => [
  {
    key: 'task_id',
    label: 'Task',
    align: 'words',
    render: ({ task_id }) => <span title={task_id}>{tasks.get(task_id)?.title ?? shortId(task_id)}</span>,
  },
  figureColumn('Amount', ({ amount_usd }) => <Exact usd={amount_usd} />),
  { key: 'payer', label: 'From', render: ({ payer }) => <Caller id={payer} /> },
  {
    key: 'recipient',
    label: 'To',
    render: (escrow) => <Payee of={escrow} task={tasks.get(escrow.task_id)} />,
  },
  { key: 'status', label: 'Status', render: (escrow) => <EscrowState of={escrow} /> },
  { key: 'expires', label: 'Expires', render: (escrow) => <Expiry of={escrow} /> },
  {
    key: 'actions',
    label: 'Actions',
    render: (escrow) => <EscrowActions escrow={escrow} task={tasks.get(escrow.task_id)} onAsk={onAsk} />,
  },
]

/** Recipient of an escrow: the named one, or the agent that completes its task. */
function Payee({ of, task }: { of: Escrow; task: Task | undefined }) {
  const id = of.recipient ?? (task?.status === 'completed' ? task.claimed_by : null)
  if (id) return <Caller id={id} />
  return <span class="muted">{of.status === 'refunded' ? '—' : 'agent'}</span>
}

function Expiry({ of }: { of: Escrow }) {
  if (of.status === 'locked') return <Countdown to={of.expires_at} over="expired" />
  if (of.status === 'expired') return <When at={of.expires_at} />
  return <span class="muted">—</span>
}
