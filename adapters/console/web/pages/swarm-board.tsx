import { useState } from 'preact/hooks'
import { Badge, Button, Card, DataTable, Empty, ErrorNote, Money, Page, When } from '../components/index.ts'
import { shortId } from '../format.ts'
import { useLive } from '../live.ts'
import type { List } from '../paging.ts'
import { go, href } from '../router.ts'
import './tasks.css'
import { NewSwarmDialog } from './swarm-new.tsx'
import { TASK_STATUSES, TASK_TONES, type Task, type TaskStatus } from './tasks-records.ts'

/** How many of the newest tasks are looked through for swarms. */
const LOOKED_AT = 500

interface SwarmRow {
  id: string
  tasks: Task[]
}

/** The swarms among the newest tasks. */
export function SwarmBoard() {
  const [making, setMaking] = useState(false)
  const { data, error, reload } = useLive<List<Task>>(`/api/tasks?limit=${LOOKED_AT}`, { everyMs: 5000 })
  const rows = swarmsIn(data?.items ?? [])
  return (
    <Page
      title="Swarm"
      intro="The model divides a goal into tasks that wait for each other; agents claim and complete them side by side."
      actions={
        <Button tone="primary" onClick={() => setMaking(true)}>
          New swarm…
        </Button>
      }
    >
      <Card title="Swarms">
        <ErrorNote error={error} onRetry={reload} />
        <DataTable<SwarmRow>
          label="Swarms, newest first"
          rows={rows}
          rowKey={({ id }) => id}
          onRow={({ id }) => go(href('swarm', { id }))}
          columns={[
            {
              key: 'id',
              label: 'Swarm',
              render: ({ tasks, id }) => <span title={id}>{tasks.at(-1)?.title ?? shortId(id)} …</span>,
            },
            { key: 'done', label: 'Completed', render: ({ tasks }) => <Done of={tasks} /> },
            { key: 'now', label: 'Now', render: ({ tasks }) => <Statuses of={tasks} /> },
            {
              key: 'reward',
              label: 'Reward',
              align: 'right',
              render: ({ tasks }) => (
                <Money usd={tasks.reduce((micros, task) => micros + Math.round(task.reward_usd * 1e6), 0) / 1e6} />
              ),
            },
            { key: 'made', label: 'Made', render: ({ tasks }) => <When at={tasks[0]?.created_at} /> },
          ]}
          empty={
            data && (
              <Empty
                title="No swarms yet"
                hint={`Name a goal, and see its tasks as a graph.${data.total > LOOKED_AT ? ` Only the newest ${LOOKED_AT} tasks are looked through.` : ''}`}
              />
            )
          }
        />
      </Card>
      {making && <NewSwarmDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

function Done({ of }: { of: readonly Task[] }) {
  const done = of.filter(({ status }) => status === 'completed').length
  return (
    <>
      {done} of {of.length} <progress class="short" aria-hidden="true" max={of.length} value={done} />
    </>
  )
}

function Statuses({ of }: { of: readonly Task[] }) {
  const present = TASK_STATUSES.filter((status: TaskStatus) => of.some((task) => task.status === status))
  return (
    <span class="actions">
      {present.map((status) => (
        <Badge key={status} tone={TASK_TONES[status]}>
          {of.filter((task) => task.status === status).length} {status}
        </Badge>
      ))}
    </span>
  )
}

/** @param tasks newest first */
function swarmsIn(tasks: readonly Task[]): SwarmRow[] {
  const swarms = new Map<string, Task[]>()
  for (const task of tasks) {
    if (task.swarm_id === null) continue
    const known = swarms.get(task.swarm_id)
    if (known) known.push(task)
    else swarms.set(task.swarm_id, [task])
  }
  return [...swarms].map(([id, members]) => ({ id, tasks: members }))
}
