import type { Said } from './conversation.ts'

/** Deed of an agent, by whatever tool it has for it. */
export type Deed = { does: 'read' | 'look'; file: string } | { does: 'edit'; file: string; from: string; to: string }

/** Turn of the model: calls, a text that ends the task, or a text that never ends. */
export type Step = { deeds: Deed[] } | { says: string; isFull?: boolean } | { hangs: string }

export const PARCELS = 'parcels.txt'
export const ROUTES = 'routes.txt'
export const PICTURE = 'label.png'
/** Words of the only step that a caller interrupts. */
export const BEGUN = 'I have begun'

const read = (...files: string[]): Step => ({ deeds: files.map((file) => ({ does: 'read', file })) })
const edit = (from: string, to: string): Step => ({ deeds: [{ does: 'edit', file: PARCELS, from, to }] })
/** Last words of a task. */
export const done = (task: string) => `The task ${task} is done.`

/** The tasks, by the name that a prompt gives: `task:reading`. */
const TASKS: Readonly<Record<string, Step[]>> = {
  reading: [read(PARCELS, ROUTES), { says: done('reading') }],
  looking: [{ deeds: [{ does: 'look', file: PICTURE }] }, { says: done('looking') }],
  editing: [
    read(PARCELS),
    edit('Riga', 'Oslo'),
    read(PARCELS),
    edit('Oslo', 'Bonn'),
    read(PARCELS, ROUTES),
    edit('Bonn', 'Lyon'),
    read(PARCELS),
    edit('Lyon', 'Genoa'),
    read(PARCELS),
    { says: done('editing') },
  ],
  leaving: [read(ROUTES), { hangs: BEGUN }],
  returning: [read(ROUTES), { says: done('returning'), isFull: true }],
  remembering: [read(ROUTES), { says: done('remembering') }],
}

/** Words of the prompts by which agents compact. */
const ASKS_SUMMARY = /detailed summary|CONTEXT CHECKPOINT|state_snapshot/
const SUMMARY = '<summary>The parcels were read and moved to Genoa.</summary>'

/**
 * The next step of a steered model: that of the last task that a prompt names, after those whose calls were made.
 * Everything else is asked for a summary or a title.
 */
export function nextStep(conversation: Said[], hasTools: boolean): Step {
  const tasks = conversation.map(({ role, text }) =>
    role === 'user' ? [...text.matchAll(/task:(\w+)/g)].at(-1)?.[1] : undefined,
  )
  const at = tasks.findLastIndex((task) => task !== undefined)
  const since = conversation.findLastIndex(({ role }) => role === 'assistant') + 1
  const isWorking =
    conversation.slice(since).some(({ role }) => role === 'result') &&
    !ASKS_SUMMARY.test(conversation.at(-1)?.text ?? '')
  const isAsked = at >= since || isWorking
  const steps = TASKS[tasks[at] ?? '']
  if (!hasTools || !isAsked || steps === undefined) return { says: SUMMARY }
  const made = conversation.slice(at).filter(({ calls }) => calls > 0).length
  return steps[made] ?? { says: `The task ${tasks[at]} has no step ${made}.` }
}
