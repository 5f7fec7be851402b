import type { Escrows } from '../escrow/escrow.ts'
import { createTally } from '../escrow/escrow-tally.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { insertTask, type PlannedTask } from './insert-task.ts'
import { type Task, toTask } from './task-record.ts'

/** How long rewards stay locked unless said otherwise, in seconds. */
const TTL_SECONDS = 86_400

/** One task of a graph; its fields are checked already. */
export interface GraphTask {
  /** By which the others name it; unique in the graph. */
  ref: string
  title: string
  description: string
  capabilities: readonly string[]
  rewardMicros: Micros
  /** The refs of the tasks that it waits for; without a circle. */
  dependsOn: readonly string[]
}

/** A graph of tasks that is to be made. */
export interface NewGraph {
  /** The id of the key that makes the tasks, and pays for them. */
  callerId: string
  swarmId: string
  /** What all tasks together reach, in words. */
  goal: string
  tasks: readonly GraphTask[]
  gazeRequired?: boolean
  /** Whom all rewards go to; the agents that complete the tasks when absent. */
  recipient?: string
  /** How long the rewards stay locked; a day when absent. */
  ttlSeconds?: number
}

/**
 * Makes a swarm with all tasks of a graph and locks their rewards, in one transaction, in which `keep` is told of them.
 *
 * @returns in the order in which they are given
 * @throws GazewayError `validation_failed` for a recipient that cannot be paid, `insufficient_credit` or
 *   `budget_reached`; nothing is made then
 * @throws RangeError for a ref that is unknown or there twice
 */
export type CreateGraph = (graph: NewGraph, keep?: Keep<Task[]>) => Promise<Task[]>

/** How graphs of tasks are made. */
export function createGraphs({
  store,
  now,
  escrows,
}: {
  store: Store
  now: () => Date
  escrows: Pick<Escrows, 'funding'>
}): CreateGraph {
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
  const { tasks, swarmId, gazeRequired = false, recipient = null, ttlSeconds = TTL_SECONDS } = graph
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
      recipient,
      dependsOn: waitsFor,
      waitingOn: waitsFor.length,
      swarmId,
      ttlSeconds,
    }
  })
}

/** Ids by ref, each later than those of the tasks that it waits for: rows are locked in the order of their ids. */
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
