import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { Claim, Completion, Heartbeat, NewTask, Task, TaskList, TaskStats } from '../../../src/tasks/tasks.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { BoardTask, boardOf } from '../board-task.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

/** The key that tasks and swarms are shown to. Null for an admin's, which sees all. */
export function viewerOf(c: FrameContext): string | null {
  const { id, scopes } = callerOf(c)
  return scopes.has('admin') ? null : id
}

/** Most bytes of a page of a board. */
const BOARD_BYTES = 256 * 1024
/** Tasks whose agents are listed. */
const MAX_NEWEST = 100

const OneTask = z.strictObject({ id: z.string().max(128) })

/** Routes of tasks with rewards, which agents claim and complete. */
export const taskRoutes = ({ tasks }: Gateway): Route[] => [
  defineRoute('POST /api/tasks', {
    operation: 'createTask',
    summary: 'Create a task and lock its reward',
    description:
      'Moves the reward from the caller’s account into escrow in the same transaction. Without enough credit ' +
      '(402), no task is created.',
    access: 'platform',
    body: NewTask,
    reply: Task,
    status: 201,
    idempotent: true,
    run: ({ body, c, keep }) => tasks.create(body, callerOf(c).id, keep),
  }),
  defineRoute('GET /api/tasks', {
    operation: 'listTasks',
    summary: 'List tasks, newest first',
    description: 'Open tasks, and those that the caller created or claimed. An admin sees all.',
    access: 'platform',
    query: TaskList.extend({
      include_done: z
        .enum(['true', 'false', '1', '0', ''])
        .optional()
        .describe('Adds `tasks`: the page as Hermes Workspace shows it, with or without those that are over'),
    }).strict(),
    reply: pageOf(Task).extend({ tasks: z.array(BoardTask).optional() }),
    async run({ query: { include_done, ...query }, c }) {
      if (include_done === undefined) return listReply(query, (part) => tasks.list(part, viewerOf(c)))
      const page = await tasks.list({ ...query, maxBytes: BOARD_BYTES }, viewerOf(c))
      return { ...page, tasks: boardOf(page.items, ['true', '1'].includes(include_done)) }
    },
  }),
  ...summaryRoutes(tasks),
  defineRoute('GET /api/tasks/{id}', {
    operation: 'getTask',
    summary: 'Retrieve a task',
    description: 'An open one, one that the caller created or claimed, or one that a task of its claim depends on.',
    access: 'platform',
    params: OneTask,
    reply: Task,
    run: ({ params, c }) => tasks.get(params.id, viewerOf(c)),
  }),
  ...claimRoutes(tasks),
  defineRoute('DELETE /api/tasks/{id}', {
    operation: 'cancelTask',
    summary: 'Cancel an unfinished task and refund its reward',
    description: 'For its creator and admins. Dependent tasks are also cancelled and refunded.',
    access: 'platform',
    params: OneTask,
    reply: Task,
    idempotent: true,
    run: ({ params, c, keep }) => tasks.cancel(params.id, callerOf(c), keep),
  }),
]

/** Routes that sum up the tasks of the caller. */
const summaryRoutes = (tasks: Gateway['tasks']): Route[] => [
  defineRoute('GET /api/tasks/assignees', {
    operation: 'listAssignees',
    summary: 'List the agents of the newest tasks, as Hermes Workspace asks for them',
    access: 'platform',
    reply: z.object({
      assignees: z.array(z.object({ id: z.string(), label: z.string(), isHuman: z.literal(false) })),
    }),
    async run({ c }) {
      const { items } = await tasks.list({ limit: MAX_NEWEST, maxBytes: BOARD_BYTES }, viewerOf(c))
      const agents = [...new Set(items.flatMap(({ agent }) => agent ?? []))].sort()
      return { assignees: agents.map((id) => ({ id, label: id, isHuman: false as const })) }
    },
  }),
  defineRoute('GET /api/tasks/stats', {
    operation: 'getTaskStats',
    summary: 'Count tasks by status and sum their rewards',
    description:
      'Counts open tasks, and those that the caller created or claimed; sums the rewards of the latter. For an admin, all.',
    access: 'platform',
    reply: TaskStats,
    run: ({ c }) => tasks.stats(viewerOf(c)),
  }),
]

/** Routes of the key that works on a task. */
const claimRoutes = (tasks: Gateway['tasks']): Route[] => [
  defineRoute('POST /api/tasks/{id}/claim', {
    operation: 'claimTask',
    summary: 'Claim an open task',
    description:
      'Of concurrent claims one wins; the others get 409. If the lease expires without a heartbeat, the task opens ' +
      'again. Only this reply contains the claim token. If it is lost, heartbeats and the completion can use the ' +
      'name of the agent instead.',
    access: 'platform',
    params: OneTask,
    body: Claim,
    reply: Task.extend({ claim_token: z.string().describe('The token of the claim. Shown only once.') }),
    idempotent: true,
    secret:
      'If you did not receive the reply, continue without claim_token: send only the agent name with heartbeats and the ' +
      'completion. If the lease has expired, claim the task with a new Idempotency-Key.',
    run: ({ params, body, c, keep }) => tasks.claim(params.id, body, callerOf(c), keep),
  }),
  defineRoute('POST /api/tasks/{id}/heartbeat', {
    operation: 'extendClaim',
    summary: 'Extend the lease of a claim',
    description: 'For the key that claimed the task, with the claim token, the name of its agent, or both.',
    access: 'platform',
    params: OneTask,
    body: Heartbeat,
    reply: Task,
    run: ({ params, body, c }) => tasks.heartbeat(params.id, body, callerOf(c)),
  }),
  defineRoute('POST /api/tasks/{id}/complete', {
    operation: 'completeTask',
    summary: 'Complete or fail a claimed task',
    description:
      'For the key that claimed the task. Completing it opens the tasks that depend on it. Failing it refunds the ' +
      'reward and cancels those tasks.',
    access: 'platform',
    params: OneTask,
    body: Completion,
    reply: Task,
    idempotent: true,
    run: ({ params, body, c, keep }) => tasks.complete(params.id, body, callerOf(c), keep),
  }),
]
