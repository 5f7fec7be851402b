import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { isProgram } from './slowest.ts'

interface Case {
  name: string
  file: string
  nesting: number
}

/**
 * Reporter of Node's test runner: names the cases that had begun and not ended when their process did, because it crashed or
 * reached its time limit.
 */
export default async function* unended(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** Cases of one process: the runner holds back those of the others until it has ended. */
  let begun: Case[] = []
  for await (const { type, data } of events) {
    if (type === 'test:dequeue' && !isProgram(data.name)) begun.push({ file: '', ...data })
    if (type === 'test:complete')
      begun = begun.filter(({ name, nesting }) => name !== data.name || nesting !== data.nesting)
    if (type === 'test:fail' && isProgram(data.name)) {
      const [first] = begun
      if (first) yield `\nNot ended in ${relative('', first.file)}: ${begun.map(({ name }) => name).join(' > ')}\n`
      else if ((data.details.error as { failureType?: string }).failureType === 'testTimeoutFailure')
        yield `\nAll cases of ${relative('', data.name)} had ended: something that they opened kept their process.\n`
    }
    // A file counts as a test with its path as its name.
    if ((type === 'test:fail' || type === 'test:pass') && isProgram(data.name)) begun = []
  }
}
