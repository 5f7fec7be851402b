import type { Task } from '../../../../../src/tasks/task-record.ts'
import { Card, Empty, ErrorNote, Loading, Page, Progress, Stat } from '../../components/content.ts'
import { Graph } from '../../components/graph.tsx'
import { DataTable } from '../../components/lists.ts'
import { count, usd } from '../../format.ts'
import type { List } from '../../paging.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { TASK_TONES, type TaskStatus } from '../tasks/task-status-tone.ts'
import { StatusFigures, TASKS } from '../tasks/tasks.tsx'

/** Swarm as a live graph of its tasks, and as a table. */
export function SwarmView({ id }: { id: string }) {
  const path = `/api/tasks?swarm_id=${encodeURIComponent(id)}&limit=100`
  const { data, error, reload } = useLive<List<Task>>(path, { everyMs: 1500 })
  // Tasks are created in the order of the plan, and listed newest first.
  const tasks = [...(data?.items ?? [])].reverse()
  const ids = new Set(tasks.map((task) => task.id))
  const edges = tasks.flatMap((task) =>
    task.depends_on.filter((from) => ids.has(from)).map((from) => [from, task.id] as const),
  )
  const done = tasks.filter(({ status }) => status === 'completed').length
  return (
    <Page
      title={tasks.length === 0 ? 'Swarm' : `Swarm of ${count(tasks.length)} ${tasks.length === 1 ? 'task' : 'tasks'}`}
      back={{ label: 'All swarms', href: href('swarm') }}
      intro="Arrows lead from a task to the tasks that depend on it."
    >
      <ErrorNote error={error} onRetry={reload} />
      {!data && !error && <Loading what="the swarm" />}
      {data && tasks.length === 0 && (
        <Card>
          <Empty title="Swarm not found" hint="The address may be incomplete." />
        </Card>
      )}
      {tasks.length > 0 && (
        <>
          <StatusFigures counts={countedBy(tasks)} swarm_id={id}>
            <Stat
              label="Reward"
              href={href('tasks', { query: { swarm_id: id } })}
              value={usd(sum(tasks.map(({ reward_usd }) => reward_usd)))}
            />
          </StatusFigures>
          <Card title="Graph">
            <Progress value={done / tasks.length} label="Completed" text={`${done} of ${tasks.length}`} />
            <Graph
              label="Tasks and what they wait for"
              edges={edges}
              nodes={tasks.map((task) => ({
                id: task.id,
                title: task.title,
                status: task.status,
                tone: TASK_TONES[task.status],
                note: task.agent,
                href: href('tasks', { id: task.id }),
              }))}
            />
          </Card>
          <Card title="Tasks">
            <DataTable<Task> {...TASKS} label="Tasks of this swarm, in order" rows={tasks} />
          </Card>
        </>
      )}
    </Page>
  )
}

/** Sum in USD, exact to the micro-dollar. */
const sum = (amounts: readonly number[]): number =>
  amounts.reduce((micros, usd) => micros + Math.round(usd * 1e6), 0) / 1e6

/** Counts tasks by those statuses that they have. */
function countedBy(tasks: readonly Task[]): Partial<Record<TaskStatus, number>> {
  const counts: Partial<Record<TaskStatus, number>> = {}
  for (const { status } of tasks) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
