import { isAbsolute } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** Lines in each of the two lists. */
const SHOWN = 10

interface Timed {
  name: string
  ms: number
}

/** Reporter of Node's test runner: prints the counts of a run, its slowest files and its slowest cases. */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: Timed[] = []
  const cases: Timed[] = []
  const counts: string[] = []
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && data.nesting === 0) counts.push(data.message)
    if (type !== 'test:complete' || data.details.type === 'suite') continue
    const timed = { name: data.name, ms: data.details.duration_ms }
    if (isProgram(data.name)) files.push({ ...timed, name: sourceOf(data.name) })
    else cases.push(timed)
  }
  yield `\n${counts.join(', ')}\n`
  yield `\nSlowest files\n${slowestOf(files)}\nSlowest cases\n${slowestOf(cases)}`
}

/** Tells whether a test is a whole program: the runner counts each as a test with its path as its name. */
export const isProgram = (name: string): boolean => isAbsolute(name) && /\.[jt]s$/.test(name)

function slowestOf(timed: Timed[]): string {
  const first = timed.sort((a, b) => b.ms - a.ms).slice(0, SHOWN)
  return first.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`).join('')
}

/** `…/.tests/test/x/y.test.js` → `test/x/y.test.ts` */
export const sourceOf = (built: string): string => built.replace(/^.*[\\/]\.tests[\\/]/, '').replace(/\.js$/, '.ts')
