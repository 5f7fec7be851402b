import * as z from 'zod'
import { TASK_STATUSES } from '../../src/escrow/task-status.ts'
import type { Task } from '../../src/tasks/tasks.ts'

type Status = Task['status']

/** Columns of a board by the status of a task. */
const COLUMNS: Readonly<Record<Status, 'backlog' | 'todo' | 'in_progress' | 'done' | 'deleted'>> = {
  blocked: 'backlog',
  open: 'todo',
  claimed: 'in_progress',
  completed: 'done',
  failed: 'done',
  cancelled: 'deleted',
}

/** Statuses of tasks that are over. */
const OVER: ReadonlySet<Status> = new Set(
  TASK_STATUSES.filter((status) => ['done', 'deleted'].includes(COLUMNS[status])),
)

/** A task as Hermes Workspace shows it on its board. */
export const BoardTask = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  column: z.enum(['backlog', 'todo', 'in_progress', 'done', 'deleted']),
  priority: z.literal('medium').describe('Tasks have no priority here'),
  assignee: z.string().nullable(),
  tags: z.array(z.string()).describe('The capabilities that it requires'),
  due_date: z.null().describe('Tasks have no day here'),
  position: z.int().describe('Its place in the list'),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type BoardTask = z.infer<typeof BoardTask>

/** Puts tasks on a board. @param withDone includes those that are over */
export const boardOf = (tasks: readonly Task[], withDone: boolean): BoardTask[] =>
  tasks
    .filter(({ status }) => withDone || !OVER.has(status))
    .map(({ id, title, description, status, agent, capabilities, creator, created_at, updated_at }, position) => ({
      ...{ id, title, description, position, created_at, updated_at },
      column: COLUMNS[status],
      priority: 'medium',
      assignee: agent,
      tags: capabilities,
      due_date: null,
      created_by: creator,
    }))
