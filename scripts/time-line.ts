import { cpus } from 'node:os'
import type { TestEvent } from 'node:test/reporters'
import { isProgram, sourceOf } from './slowest.ts'

/** Length of one line of the second table, in seconds. */
const STEP_S = 15

interface Program {
  name: string
  /** Seconds since the first program began. */
  from: number
  until: number
}

/**
 * Reporter of Node's test runner: prints when each program began and ended, and how busy the cores were meanwhile. Programs
 * that wait, and a long one that runs alone at the end, are seen there.
 */
export default async function* timeLine(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const begun = new Map<string, number>()
  const ended: { name: string; ms: number }[] = []
  const start = performance.now()
  const busy: number[] = []
  let before = spent()
  const timer = setInterval(() => {
    const now = spent()
    busy.push((now.busy - before.busy) / (now.all - before.all))
    before = now
  }, STEP_S * 1000)
  for await (const { type, data } of events) {
    if (type === 'test:dequeue' && isProgram(data.name)) begun.set(data.name, performance.now())
    if (type === 'test:complete' && isProgram(data.name)) ended.push({ name: data.name, ms: data.details.duration_ms })
  }
  clearInterval(timer)
  const programs = ended.map(({ name, ms }): Program => {
    const from = ((begun.get(name) ?? start) - start) / 1000
    return { name: sourceOf(name), from, until: from + ms / 1000 }
  })
  yield `\n   from   until        s  program\n${programs
    .sort((a, b) => a.from - b.from)
    .map(lineOf)
    .join('')}`
  yield `\n   from  busy  programs\n${busy.map((share, at) => stepOf(programs, at * STEP_S, share)).join('')}`
}

const seconds = (s: number, width: number): string => s.toFixed(1).padStart(width)

const lineOf = ({ name, from, until }: Program): string =>
  `${seconds(from, 7)} ${seconds(until, 7)} ${seconds(until - from, 8)}  ${name}\n`

function stepOf(programs: readonly Program[], from: number, share: number): string {
  const running = programs.filter((one) => one.from < from + STEP_S && one.until > from)
  const names = running.length > 6 ? '' : `  ${running.map(({ name }) => name).join(', ')}`
  return `${seconds(from, 7)} ${Math.round(share * 100)
    .toString()
    .padStart(4)}%  ${running.length.toString().padStart(8)}${names}\n`
}

/** Time of all cores since the machine was started, and how much of it they worked. */
function spent(): { busy: number; all: number } {
  const times = cpus().map(({ times }) => times)
  const idle = times.reduce((sum, { idle }) => sum + idle, 0)
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { busy: all - idle, all }
}
