import { useState } from 'preact/hooks'
import type { SwarmSummary } from '../../../../../src/tasks/tasks.ts'
import { Badge, Page, type Tone } from '../../components/content.ts'
import { Primary } from '../../components/forms.ts'
import { curlOf } from '../../components/layout.tsx'
import { type Column, ListCard, moneyColumn, whenColumn } from '../../components/lists.ts'
import { usePage } from '../../paging.ts'
import type { PageProps } from '../../router.ts'
import { TASK_STATUSES, TASK_TONES } from '../tasks/task-status-tone.ts'
import { NewSwarmDialog } from './new-swarm.tsx'
import { SwarmView } from './swarm-view.tsx'
import '../tasks/tasks.css'

/** All swarms, or the one of the address. */
export default function SwarmPage({ id }: PageProps) {
  return id === null ? <SwarmBoard /> : <SwarmView key={id} id={id} />
}

const SWARM_TONES: Record<SwarmSummary['status'], Tone> = {
  running: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
}

const COLUMNS: Column<SwarmSummary>[] = [
  { key: 'goal', label: 'Goal', align: 'words', render: ({ goal }) => <span title={goal}>{firstLine(goal)}</span> },
  { key: 'status', label: 'Status', render: ({ status }) => <Badge tone={SWARM_TONES[status]}>{status}</Badge> },
  { key: 'done', label: 'Completed', render: ({ tasks }) => <Done of={tasks.by_status} /> },
  { key: 'now', label: 'Tasks', render: ({ tasks }) => <Statuses of={tasks.by_status} /> },
  moneyColumn('reward_usd', 'Reward'),
  whenColumn('created_at', 'Created'),
]

/** All swarms, newest first. */
function SwarmBoard() {
  const [making, setMaking] = useState(false)
  const page = usePage<SwarmSummary>('/api/swarms', { everyMs: 5000 })
  return (
    <Page
      title="Swarm"
      intro="A model divides a goal into dependent tasks. Agents claim and complete them in parallel."
      actions={<Primary onClick={() => setMaking(true)}>New swarm…</Primary>}
    >
      <ListCard<SwarmSummary>
        title="Swarms"
        label="Swarms, newest first"
        list={page}
        opens="swarm"
        columns={COLUMNS}
        empty={{
          title: 'No swarms yet',
          hint: 'Enter a goal to see its tasks as a graph, or have an agent do it:',
          command: curlOf('/api/tasks/swarm', { goal: 'Plan the release' }),
        }}
      />
      {making && <NewSwarmDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

/** Maximum length of a goal in a row, in characters. The title has the whole goal. */
const MAX_SHOWN = 160

function firstLine(goal: string): string {
  const [line = ''] = goal.split('\n')
  if (line.length <= MAX_SHOWN) return line === goal ? goal : `${line} …`
  const cut = line.slice(0, MAX_SHOWN)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_SHOWN / 2))} …`
}

function Done({ of }: { of: SwarmSummary['tasks']['by_status'] }) {
  const all = TASK_STATUSES.reduce((sum, status) => sum + of[status], 0)
  return (
    <>
      {of.completed} of {all} <progress class="short" aria-hidden="true" max={all} value={of.completed} />
    </>
  )
}

function Statuses({ of }: { of: SwarmSummary['tasks']['by_status'] }) {
  return (
    <span class="actions">
      {TASK_STATUSES.filter((status) => of[status] > 0).map((status) => (
        <Badge key={status} tone={TASK_TONES[status]}>
          {of[status]} {status}
        </Badge>
      ))}
    </span>
  )
}
