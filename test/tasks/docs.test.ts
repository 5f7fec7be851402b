import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { ESCROW_STATUSES, ESCROW_TRANSITIONS } from '../../src/escrow/escrow-statuses.ts'
import { TASK_STATUSES } from '../../src/escrow/task-status.ts'
import type { Transition } from '../../src/store/status-table.ts'
import { TASK_TRANSITIONS } from '../../src/tasks/task-statuses.ts'
import { blocksOf, tableUnder } from '../docs/markdown.ts'

const page = readFileSync('docs/reference/tasks.md', 'utf8')

const MACHINES: Array<
  [name: string, table: ReadonlyArray<Transition<string, string>>, statuses: readonly string[], heading: string]
> = [
  ['task', TASK_TRANSITIONS, TASK_STATUSES, 'The life of a task'],
  ['escrow', ESCROW_TRANSITIONS, ESCROW_STATUSES, 'The life of an escrow'],
]

/** The state machine as Mermaid draws it; statuses that nothing leaves end it. */
function diagramOf(table: ReadonlyArray<Transition<string, string>>, statuses: readonly string[]): string {
  const moves = table.map(({ event, from, to }) => `    ${from ?? '[*]'} --> ${to}: ${event}`)
  const ends = statuses.filter((status) => !table.some(({ from }) => from === status))
  return ['stateDiagram-v2', ...moves, ...ends.map((status) => `    ${status} --> [*]`), ''].join('\n')
}

for (const [name, table, statuses, heading] of MACHINES)
  describe(`the state machine of a ${name}`, () => {
    it('is drawn in docs/reference/tasks.md as its table has it', () => {
      const drawn = blocksOf(page).filter(({ language }) => language === 'mermaid')
      const expected = diagramOf(table, statuses)
      assert.ok(
        drawn.some(({ text }) => text === expected),
        `docs/reference/tasks.md has no mermaid block with:\n${expected}`,
      )
    })

    it('stands in docs/reference/tasks.md as its table has it', () => {
      const expected = table.map(({ event, from, to, when }) => [
        from === null ? '' : `\`${from}\``,
        event,
        `\`${to}\``,
        when,
      ])
      assert.deepEqual(tableUnder(page, heading), expected)
    })

    it('reaches every status, and has one outcome for an event in a status', () => {
      assert.deepEqual([...new Set(table.map(({ to }) => to))].sort(), [...statuses].sort())
      const starts = table.map(({ event, from }) => `${event} ${from}`)
      assert.equal(new Set(starts).size, starts.length)
    })
  })
