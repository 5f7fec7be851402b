import { useState } from 'preact/hooks'
import { Badge, Button, Card, DataTable, Empty, ErrorNote, Money, Page, Pager, When } from '../components/index.ts'
import { shortId } from '../format.ts'
import { useLive } from '../live.ts'
import { type List, usePage } from '../paging.ts'
import { go, href } from '../router.ts'
import './tasks.css'
import { NewSwarmDialog } from './swarm-new.tsx'
import { TASK_STATUSES, TASK_TONES, type Task, type TaskStatus } from './tasks-records.ts'

/** How many tasks are looked through for swarms at a time. */
const LOOKED_AT = 500
/** More than a swarm may have. */
const MOST_TASKS = 100

interface SwarmRow {
  id: string
  tasks: Task[]
}

/** The swarms among the newest tasks, and among older ones. */
export function SwarmBoard() {
  const [making, setMaking] = useState(false)
  const page = usePage<Task>('/api/tasks', { limit: LOOKED_AT, everyMs: 5000 })
  const found = swarmsIn(page.items)
  // These tasks may begin and end amid a swarm.
  const whole = [useWhole(page.previous && found[0]), useWhole(page.next && found.at(-1))]
  const rows = found.map((swarm) => whole.find((one) => one?.id === swarm.id) ?? swarm)
  const isAll = !page.next && !page.previous
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
        <ErrorNote error={page.error} onRetry={page.reload} />
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
          of={page}
          empty={
            isAll ? (
              <Empty title="No swarms yet" hint="Name a goal, and see its tasks as a graph." />
            ) : (
              <Empty title={`No swarms among these ${page.items.length} tasks`} />
            )
          }
        />
        {!isAll && <p class="hint">Swarms are looked for among {LOOKED_AT} tasks at a time; these are counted here.</p>}
        <Pager page={page} />
      </Card>
      {making && <NewSwarmDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

/** A swarm with all of its tasks; null until they have come. */
function useWhole(swarm: SwarmRow | null | undefined): SwarmRow | null {
  const { data } = useLive<List<Task>>(swarm ? `/api/tasks?swarm_id=${swarm.id}&limit=${MOST_TASKS}` : null, {
    everyMs: 5000,
  })
  return swarmsIn(data?.items ?? [])[0] ?? null
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
