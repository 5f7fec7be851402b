import type { GazeLevel } from '../config/sections/gaze-section.ts'
import { createTally } from '../escrow/escrow-tally.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { insertTask, type PlannedTask, type TaskMaking } from './insert-task.ts'
import { type Task, toTask } from './task-record.ts'

/** Default lifetime of rewards in seconds. */
const TTL_SECONDS = 86_400

/** One task of a graph, validated before. */
export interface GraphTask {
  /** Name within the graph; unique. */
  ref: string
  title: string
  description: string
  capabilities: readonly string[]
  rewardMicros: Micros
  /** Refs of the tasks it depends on, without cycles. */
  dependsOn: readonly string[]
}

/** A graph of tasks to create. */
export interface NewGraph {
  /** Id of the key that creates the tasks and pays for them. */
  callerId: string
  swarmId: string
  /** Goal of all tasks together. */
  goal: string
  tasks: readonly GraphTask[]
  gazeRequired?: boolean
  /** Level of evidence of their attestations; none for the one of the settings. */
  gazeLevel?: GazeLevel | undefined
  /** Recipient of all rewards; the agents that complete the tasks by default. */
  recipient?: string
  /** Lifetime of the rewards; a day by default. */
  ttlSeconds?: number
}

/**
 * Creates a swarm with all tasks of a graph and locks their rewards, in one transaction.
 *
 * @param keep called with the tasks in the same transaction
 * @returns the tasks in the given order
 * @throws GazewayError `validation_failed` for a recipient that cannot be paid, `insufficient_credit` or
 *   `budget_reached`; nothing is created then
 * @throws RangeError for an unknown or repeated ref
 */
export type CreateGraph = (graph: NewGraph, keep?: Keep<Task[]>) => Promise<Task[]>

/** Creates the function that creates graphs. */
export function createGraphs({ store, now, escrows }: TaskMaking): CreateGraph {
  return async (graph, keep) => {
    const planned = plan(graph)
    const funding = await escrows.funding(graph.callerId, graph.recipient ?? null)
    const at = now()
    return store.write(async (trx) => {
      const tally = createTally()
      const made: Task[] = []
      await trx
        .insertInto('swarms')
        .values({ id: graph.swarmId, goal: graph.goal, creator: graph.callerId, created_at: at.toISOString() })
        .execute()
      for (const task of planned) {
        const row = await insertTask(trx, task, { funding, creator: graph.callerId, now: at, tally })
        made.push(toTask(row, row.created_at))
      }
      await tally.write(trx)
      await keep?.(trx, made)
      return made
    })
  }
}

function plan(graph: NewGraph): PlannedTask[] {
  const { tasks, swarmId, gazeRequired = false, gazeLevel, recipient = null, ttlSeconds = TTL_SECONDS } = graph
  const ids = newIds(tasks)
  if (ids.size !== tasks.length) throw new RangeError('Two tasks of the graph have the same ref.')
  return tasks.map(({ ref, title, description, capabilities, rewardMicros, dependsOn }) => {
    const waitsFor = [...new Set(dependsOn)].map((other) => idOf(ids, other))
    return {
      id: idOf(ids, ref),
      title,
      description,
      capabilities: [...new Set(capabilities)],
      rewardMicros,
      gazeRequired,
      gazeLevel,
      recipient,
      dependsOn: waitsFor,
      waitingOn: waitsFor.length,
      swarmId,
      ttlSeconds,
    }
  })
}

/** Assigns ids by ref, each later than those of its dependencies, because rows are locked in the order of their ids. */
function newIds(tasks: readonly GraphTask[]): Map<string, string> {
  const byRef = new Map(tasks.map((task) => [task.ref, task]))
  const ids = new Map<string, string>()
  const seen = new Set<string>()
  function name(ref: string): void {
    if (seen.size === seen.add(ref).size) return
    const task = byRef.get(ref)
    if (task === undefined) return
    for (const other of task.dependsOn) name(other)
    ids.set(ref, newId('task'))
  }
  for (const { ref } of tasks) name(ref)
  return ids
}

function idOf(ids: ReadonlyMap<string, string>, ref: string): string {
  const id = ids.get(ref)
  if (id === undefined) throw new RangeError(`The graph has no task ${ref}.`)
  return id
}
