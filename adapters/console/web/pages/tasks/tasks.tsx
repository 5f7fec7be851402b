import type { ComponentChildren, ComponentProps } from 'preact'
import { useState } from 'preact/hooks'
import type { Task, TaskStats } from '../../../../../src/tasks/task-record.ts'
import { Badge, Countdown, Grid, Page, Stat } from '../../components/content.ts'
import { ALL, Button, Primary, useFilters } from '../../components/forms.ts'
import { curlOf } from '../../components/layout.tsx'
import { type DataTable, ListCard, moneyColumn, whenColumn } from '../../components/lists.ts'
import { count, shortId, usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { NewTaskDialog } from './new-task.tsx'
import { TASK_STATUSES, TASK_TONES, type TaskStatus } from './task-status-tone.ts'
import { TaskStory } from './task-story.tsx'

const FILTERS = ['status', 'agent', 'capability', 'swarm_id'] as const
const STATUSES = [ALL, ...TASK_STATUSES]

/** All tasks, or the one of the address. */
export default function TasksPage({ id, query }: PageProps) {
  return id === null ? <TaskBoard query={query} /> : <TaskStory key={id} id={id} />
}

/** All tasks, with filters. */
function TaskBoard({ query }: { query: URLSearchParams }) {
  const [making, setMaking] = useState(false)
  const filters = useFilters(query, FILTERS, ['tasks'], { status: STATUSES })
  const { edit, asked } = filters
  const { swarm_id } = filters.draft
  const page = usePage<Task>(`/api/tasks${asked}`)
  const stats = useLive<TaskStats>('/api/tasks/stats')
  return (
    <Page
      title="Tasks"
      intro="Work that agents claim and complete for a reward."
      actions={
        <>
          <Button onClick={() => go(href('swarm'))}>Divide a goal…</Button>
          <Primary onClick={() => setMaking(true)}>New task…</Primary>
        </>
      }
    >
      {stats.data && (
        <StatusFigures counts={stats.data.by_status}>
          <Stat
            label="Rewards locked"
            href={session.value?.isAdmin ? href('escrow', { query: { status: 'live' } }) : undefined}
            value={usd(stats.data.reward_usd.locked)}
            hint={`${usd(stats.data.reward_usd.paid)} paid out`}
          />
        </StatusFigures>
      )}
      <ListCard<Task, typeof filters.draft>
        title="Tasks"
        filters={{
          ...filters,
          one: 'task',
          fields: [
            { name: 'status', label: 'Status', options: STATUSES },
            { name: 'agent', label: 'Agent', placeholder: 'any' },
            { name: 'capability', label: 'Capability', placeholder: 'any' },
          ],
          children: swarm_id && <Button onClick={() => edit({ swarm_id: '' })}>Swarm {shortId(swarm_id)} ✕</Button>,
        }}
        {...TASKS}
        label="Tasks, newest first"
        list={page}
        error={page.error ?? stats.error}
        empty={{
          title: 'No tasks yet',
          hint: 'Create one here, divide a goal into several, or have an agent create them:',
          command: curlOf('/api/tasks', { title: 'Summarise the week' }),
        }}
      />
      {making && <NewTaskDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

/** Rows of a table of tasks. Each leads to the page of its task. */
export const TASKS: Pick<ComponentProps<typeof DataTable<Task>>, 'opens' | 'columns'> = {
  opens: 'tasks',
  columns: [
    { key: 'title', label: 'Task', align: 'words' },
    { key: 'status', label: 'Status', render: ({ status }) => <Badge tone={TASK_TONES[status]}>{status}</Badge> },
    { key: 'agent', label: 'Agent' },
    {
      key: 'capabilities',
      label: 'Requires',
      render: ({ capabilities }) => capabilities.join(', ') || <span class="muted">—</span>,
    },
    moneyColumn('reward_usd', 'Reward'),
    {
      key: 'lease',
      label: 'Lease',
      render: ({ lease_expires_at }) =>
        lease_expires_at ? <Countdown to={lease_expires_at} over="over" /> : <span class="muted">—</span>,
    },
    whenColumn('updated_at', 'Changed'),
  ],
}

/** Numbers of tasks by status, each with the list of these tasks. @param swarm_id the swarm that they belong to */
export function StatusFigures(props: {
  counts: Partial<Record<TaskStatus, number>>
  swarm_id?: string
  children: ComponentChildren
}) {
  const { counts, swarm_id } = props
  return (
    <Grid of="figures">
      {TASK_STATUSES.flatMap((status) => {
        const number = counts[status]
        if (number === undefined) return []
        return (
          <Stat
            key={status}
            label={capital(status)}
            href={href('tasks', { query: { status, swarm_id } })}
            value={count(number)}
            tone={number > 0 ? TASK_TONES[status] : 'neutral'}
          />
        )
      })}
      {props.children}
    </Grid>
  )
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
