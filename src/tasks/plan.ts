import { shorten } from '../text/cut.ts'
import { parseJson } from '../text/json.ts'
import { explain } from '../wire/validation.ts'
import { type PlanLimits, PlanReply, type PlanTask } from './plan-schema.ts'

/** Faults that are told at once. */
const MOST_TOLD = 5
/** Longest name of a task in a fault, in characters. */
const NAME_LENGTH = 40
/** Longest reply that is read, in characters. */
const REPLY_LENGTH = 500_000

/** A plan that can be carried out. */
export interface Plan {
  /** As the model gave them, each dependency named once. */
  tasks: PlanTask[]
  /** Every dependency as `[from, to]`: `to` waits for `from`. In the order of the tasks and of their `depends_on`. */
  edges: [from: string, to: string][]
  /** All ids, each after those that it waits for; of those that could come next, the first in the plan does. */
  order: string[]
}

/** A plan, or why a reply is none: in words that tell a model what to mend. */
export type PlanResult = { plan: Plan; fault: null } | { plan: null; fault: string }

/** What a model replied, as the plan that it is to be. */
export function readPlan(reply: string, limits: PlanLimits): PlanResult {
  if (reply.trim() === '') return faulty('the reply is empty')
  if (reply.length > REPLY_LENGTH) return faulty(`the reply is longer than ${REPLY_LENGTH} characters`)
  const value = parseJson(unfenced(reply))
  if (value === undefined) return faulty('the reply is not valid JSON')
  const parsed = PlanReply.safeParse(value)
  if (!parsed.success) return faulty(explain(parsed.error, PlanReply, value, 'the plan').message.replace(/\.$/, ''))
  return checkPlan(parsed.data.tasks, limits)
}

/**
 * Checks that tasks form a plan: 1 to `maxTasks` of them, each with an id of its own, waiting only for others of the
 * plan and never for itself by way of them, and asking only for capabilities that are there.
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
    const more = faults.length > MOST_TOLD ? [`and ${faults.length - MOST_TOLD} more faults`] : []
    return faulty([...faults.slice(0, MOST_TOLD), ...more].join('; '))
  }
  const order = inOrder(tasks)
  if (order.length < tasks.length) {
    return faulty(`tasks wait for each other in a circle: ${cycleIn(tasks, new Set(order)).map(named).join(' → ')}`)
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

/** A stable topological order (Kahn 1962), without what is in a cycle or waits for one. */
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

/** One of the cycles: each waits for the next, and the last is the first again. */
function cycleIn(tasks: readonly PlanTask[], done: ReadonlySet<string>): string[] {
  const waits = new Map(
    tasks.filter(({ id }) => !done.has(id)).map((task) => [task.id, task.depends_on.find((id) => !done.has(id)) ?? '']),
  )
  // Whatever is left waits for something that is left, so that following it must come around.
  const path: string[] = []
  let id = [...waits.keys()][0] ?? ''
  while (!path.includes(id)) {
    path.push(id)
    id = waits.get(id) ?? ''
  }
  return [...path.slice(path.indexOf(id)), id]
}

/** A name that a model gave, fit to be repeated. */
function named(name: string): string {
  return shorten(name.replace(/\p{C}/gu, '?'), NAME_LENGTH)
}

/** Some models put JSON between the marks of a code block. */
function unfenced(reply: string): string {
  const plain = reply.trim()
  return plain.startsWith('```') && plain.endsWith('\n```') ? plain.slice(plain.indexOf('\n'), -3) : plain
}
