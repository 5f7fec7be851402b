import { shorten } from '../text/cut.ts'
import { parseJson } from '../text/json.ts'
import { explain } from '../wire/validation.ts'
import { type PlanLimits, PlanReply, type PlanTask } from './plan-schema.ts'

/** Reported faults of a plan. */
const MAX_REPORTED = 5
/** Longest task name in a fault, in characters. */
const NAME_LENGTH = 40
/** Longest accepted reply in characters. */
const REPLY_LENGTH = 500_000

/** A valid plan. */
export interface Plan {
  /** Tasks in the model's order, without repeated dependencies. */
  tasks: PlanTask[]
  /** Dependencies as `[from, to]`: `to` depends on `from`. In the order of the tasks and of their `depends_on`. */
  edges: [from: string, to: string][]
  /** Ids in topological order; ties keep the order of the plan. */
  order: string[]
}

/** A plan, or the fault of a reply in words that tell a model what to correct. */
export type PlanResult = { plan: Plan; fault: null } | { plan: null; fault: string }

/** Parses a model's reply as a plan. */
export function readPlan(reply: string, limits: PlanLimits): PlanResult {
  if (reply.trim() === '') return faulty('the reply is empty')
  if (reply.length > REPLY_LENGTH) return faulty(`the reply is longer than ${REPLY_LENGTH} characters`)
  const value = parseJson(unfenced(reply))
  if (value === undefined) return faulty('the reply is not valid JSON')
  const parsed = PlanReply.safeParse(value)
  if (!parsed.success)
    return faulty(explain(parsed.error, PlanReply, value, { name: 'the plan' }).message.replace(/\.$/, ''))
  return checkPlan(parsed.data.tasks, limits)
}

/**
 * Checks a plan:
 * - it has 1 to `maxTasks` tasks with unique ids
 * - dependencies are within the plan and without cycles
 * - it requires known capabilities only
 */
export function checkPlan(given: readonly PlanTask[], { maxTasks, capabilities }: PlanLimits): PlanResult {
  if (given.length === 0) return faulty('it has no tasks')
  if (given.length > maxTasks) return faulty(`it has ${given.length} tasks; at most ${maxTasks} are allowed`)
  const tasks = given.map((task) => ({
    ...task,
    capabilities: [...new Set(task.capabilities)],
    depends_on: [...new Set(task.depends_on)],
  }))
  const faults = [...repeatedIds(tasks), ...strayDependencies(tasks), ...unknownCapabilities(tasks, capabilities)]
  if (faults.length > 0) {
    const more = faults.length > MAX_REPORTED ? [`and ${faults.length - MAX_REPORTED} more faults`] : []
    return faulty([...faults.slice(0, MAX_REPORTED), ...more].join('; '))
  }
  const order = inOrder(tasks)
  if (order.length < tasks.length) {
    return faulty(`tasks depend on each other in a cycle: ${cycleIn(tasks, new Set(order)).map(named).join(' → ')}`)
  }
  const edges = tasks.flatMap((task) => task.depends_on.map((from): [string, string] => [from, task.id]))
  return { plan: { tasks, edges, order }, fault: null }
}

const faulty = (fault: string): PlanResult => ({ plan: null, fault })

function repeatedIds(tasks: readonly PlanTask[]): string[] {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { id } of tasks) {
    if (seen.has(id)) repeated.add(id)
    seen.add(id)
  }
  return [...repeated].map((id) => `the id ${named(id)} is given to more than one task`)
}

function strayDependencies(tasks: readonly PlanTask[]): string[] {
  const known = new Set(tasks.map((task) => task.id))
  return tasks.flatMap(({ id, depends_on }) =>
    depends_on.flatMap((other) => {
      if (other === id) return [`task ${named(id)} depends on itself`]
      return known.has(other) ? [] : [`task ${named(id)} depends on ${named(other)}, which is not in the plan`]
    }),
  )
}

function unknownCapabilities(tasks: readonly PlanTask[], allowed: PlanLimits['capabilities']): string[] {
  if (allowed === null) return []
  return tasks.flatMap(({ id, capabilities }) =>
    capabilities
      .filter((capability) => !allowed.includes(capability))
      .map((capability) => `task ${named(id)} asks for ${named(capability)}; allowed are ${allowed.join(', ')}`),
  )
}

/** Sorts topologically and stably (Kahn 1962), without tasks that are in a cycle or behind one. */
function inOrder(tasks: readonly PlanTask[]): string[] {
  const order: string[] = []
  const done = new Set<string>()
  for (;;) {
    const next = tasks.find(({ id, depends_on }) => !done.has(id) && depends_on.every((other) => done.has(other)))
    if (!next) return order
    done.add(next.id)
    order.push(next.id)
  }
}

/** Finds a cycle: each task depends on the next, and the last is the first again. */
function cycleIn(tasks: readonly PlanTask[], done: ReadonlySet<string>): string[] {
  const waits = new Map(
    tasks.filter(({ id }) => !done.has(id)).map((task) => [task.id, task.depends_on.find((id) => !done.has(id)) ?? '']),
  )
  // Every remaining task depends on a remaining one, so following dependencies must close a cycle.
  const path: string[] = []
  let id = [...waits.keys()][0] ?? ''
  while (!path.includes(id)) {
    path.push(id)
    id = waits.get(id) ?? ''
  }
  return [...path.slice(path.indexOf(id)), id]
}

/** Makes a model's name safe to repeat. */
function named(name: string): string {
  return shorten(name.replace(/\p{C}/gu, '?'), NAME_LENGTH)
}

/** Removes the code fence that some models put around JSON. */
function unfenced(reply: string): string {
  const plain = reply.trim()
  return plain.startsWith('```') && plain.endsWith('\n```') ? plain.slice(plain.indexOf('\n'), -3) : plain
}
