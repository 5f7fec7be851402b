import { closeSync, openSync } from 'node:fs'
import { createThread } from '../../src/wire/thread.ts'

/**
 * A process that asks a thread while no file descriptor is left, and again once they are free. Prints both outcomes.
 */
const ECHO = `const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ question }) => parentPort.postMessage({ answer: question }))`
const thread = createThread<string, string>({ name: 'echo', program: async () => ECHO }, () => null)
const outcomeOf = (question: string) => thread.ask(question).catch((error: { code?: string }) => error.code)

const open: number[] = []
try {
  for (;;) open.push(openSync('/dev/null', 'r'))
} catch {}
const without = outcomeOf('first')
for (const file of await without.then(() => open)) closeSync(file)
console.log(JSON.stringify([await without, await outcomeOf('second')]))
await thread.kill()
