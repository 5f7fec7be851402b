import type { Base } from '../base.ts'
import type { Escrows } from '../escrow/escrow.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Claims, createClaims } from './claim-task.ts'
import { type CreateGraph, createGraphs } from './create-graph.ts'
import { type CreateTask, createTaskMaking } from './create-task.ts'
import { createFinishing, type Finishing } from './finish-task.ts'
import { createLeases } from './lease.ts'
import { isShownTo, listTasks } from './list-tasks.ts'
import { listSwarms, type SwarmList, type SwarmSummary } from './swarms.ts'
import { type Task, type TaskList, type TaskStats, toTask } from './task-record.ts'
import { foundTask } from './task-refusals.ts'
import { taskRetention } from './task-retention.ts'
import { statsOfAll, statsOfViewer } from './task-stats.ts'

export { SwarmList, SwarmSummary } from './swarms.ts'
export { Claim, Completion, Heartbeat, NewTask, Task, TaskList, TaskStats } from './task-record.ts'

const LEASES_MS = 60_000

/** Tasks that agents claim and complete, with dependencies. */
export interface Tasks extends Claims, Finishing {
  /**
   * Creates a task and locks its reward, in one transaction. Nothing is created on an error.
   *
   * @throws GazewayError `validation_failed` for a recipient that cannot be paid or an impossible dependency,
   *   `insufficient_credit` or `budget_reached`
   */
  create: CreateTask
  /** Creates a graph of tasks, in one transaction. @throws see {@link CreateGraph} */
  createGraph: CreateGraph
  /**
   * Lists tasks, newest first.
   *
   * @param viewer key that sees open tasks and its own; null for all tasks
   * @throws GazewayError `invalid_cursor`
   */
  list(query: Paged<TaskList>, viewer: string | null): Promise<Page<Task>>
  /**
   * Lists swarms and their progress, newest first.
   *
   * @param viewer key that sees the swarms it created or has claimed a task of; null for all swarms
   * @throws GazewayError `invalid_cursor`
   */
  swarms(query: Paged<SwarmList>, viewer: string | null): Promise<Page<SwarmSummary>>
  /**
   * Reads a task.
   *
   * @param viewer as of `list`; it also sees the tasks that a task it has claimed depends on
   * @throws GazewayError `not_found`
   */
  get(id: string, viewer: string | null): Promise<Task>
  /** Reads the numbers of tasks and the sums of rewards. @param viewer as of `list` */
  stats(viewer: string | null): Promise<TaskStats>
  /** Reopens at most `limit` tasks whose leases have expired. @returns how many were checked */
  sweepLeases(limit: number): Promise<number>
  /** Periodic work of a long-running process, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Dependencies of {@link createTasks}. */
export interface TasksDeps {
  store: Store
  now: () => Date
  escrows: Pick<Escrows, 'funding'>
  verifier: GazeVerifier
}

/** Opens the room. Its sweeps follow `tasks.retention_days`. */
export function liveTasks({ store, now, config }: Base, deps: Pick<TasksDeps, 'escrows' | 'verifier'>): Tasks {
  const tasks = createTasks({ store, now, ...deps })
  const days = () => config.current().config.tasks.retention_days
  return { ...tasks, sweeps: [...tasks.sweeps, taskRetention(store, now, days)] }
}

/** Creates the tasks of `store`. */
export function createTasks(deps: TasksDeps): Tasks {
  const { store, now } = deps
  const leases = createLeases(deps)

  /** Tells whether a key has claimed a task that depends on another, whose result it then needs. */
  async function isNeededBy(viewer: string, id: string): Promise<boolean> {
    const needing = store.db
      .selectFrom('task_dependencies')
      .innerJoin('tasks', 'tasks.id', 'task_dependencies.task_id')
      .select('tasks.id')
      .where('task_dependencies.depends_on', '=', id)
      .where('tasks.claimed_by', '=', viewer)
    return (await needing.limit(1).executeTakeFirst()) !== undefined
  }

  return {
    create: createTaskMaking(deps),
    createGraph: createGraphs(deps),
    ...createClaims({ ...deps, leases }),
    ...createFinishing(deps),

    async list(query, viewer) {
      const at = now().toISOString()
      await leases.seeDue(at)
      return listTasks(store, { query, viewer }, at)
    },

    async swarms(query, viewer) {
      return listSwarms(store, { query, viewer }, now().toISOString())
    },

    async get(id, viewer) {
      const at = now().toISOString()
      const row = foundTask(await store.db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst())
      const isShown = viewer === null || isShownTo(viewer, row, at) || (await isNeededBy(viewer, id))
      return toTask(foundTask(isShown ? row : undefined), at)
    },

    async stats(viewer) {
      await leases.seeDue(now().toISOString())
      return viewer === null ? statsOfAll(store) : statsOfViewer(store, viewer)
    },

    sweepLeases: leases.sweep,
    sweeps: [{ name: 'tasks.leases', everyMs: LEASES_MS, batch: leases.sweep }],
  }
}
