import { Worker } from 'node:worker_threads'
import { readCode } from '../kept-code.ts'
import { lazily, requireDescriptors } from '../lazily.ts'
import type { Message } from './thread-code.ts'

/** Time a thread has to end by itself, in milliseconds. */
const ENDED_WITHIN_MS = 5_000
/** True in the sources, false in the bundle. */
const IS_SOURCE = import.meta.url.endsWith('.ts')

/** Code of a thread. The code calls `answerQuestions`. */
export interface ThreadCode {
  name: string
  /** Loads the program, as CommonJS. Kept, so that a thread can start after an update has replaced its file. */
  program: () => Promise<string>
}

/**
 * Declares the code of a thread.
 *
 * @param of.source file in the sources; the bundle does not contain it
 * @param of.name name in the build: `dist/threads/NAME.cjs`
 */
export const threadCode = (of: { source: URL; name: string }): ThreadCode => ({
  name: of.name,
  program: lazily(() => programOf(of)),
})

/**
 * A worker thread that answers one question at a time. It starts with the first question and does not keep the process
 * alive.
 */
export interface Thread<Question, Answer> {
  /**
   * Asks a question. Questions must not overlap. After an error that ended the thread, the next question starts a new
   * one.
   *
   * @throws an error with the message and fields of the one thrown in the thread
   */
  ask(question: Question): Promise<Answer>
  /** Ends the thread after its current answer, or after 5 s. */
  close(): Promise<void>
  /** Terminates the thread at once. */
  kill(): Promise<void>
}

/**
 * Creates a thread for work that would block the event loop.
 *
 * @param data gives the thread's `workerData`; called at each start
 */
export function createThread<Question, Answer>(code: ThreadCode, data: () => unknown): Thread<Question, Answer> {
  let worker: Worker | undefined
  let answering: { resolve(answer: Answer): void; reject(error: unknown): void } | undefined

  async function start(): Promise<Worker> {
    const program = await code.program()
    requireDescriptors()
    const started = new Worker(program, { workerData: data(), eval: true })
    const over = (error: unknown) => {
      if (worker === started) worker = undefined
      answering?.reject(error)
      answering = undefined
    }
    started.on('message', (message: Message<Answer>) => {
      // Idle threads do not keep the process alive.
      started.unref()
      const asked = answering
      answering = undefined
      if ('fault' in message) asked?.reject(Object.assign(new Error(message.fault.message), message.fault))
      else asked?.resolve(message.answer)
    })
    started.on('messageerror', over)
    started.on('error', over)
    started.on('exit', () => over(new Error(`The thread ${code.name} ended.`)))
    return started
  }

  return {
    async ask(question) {
      worker ??= await start()
      const asked = worker
      return new Promise((resolve, reject) => {
        answering = { resolve, reject }
        asked.ref()
        asked.postMessage({ question })
      })
    },
    async close() {
      const ending = worker
      if (ending === undefined) return
      const ended = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.ref()
      // Handled after the current question.
      ending.postMessage('end')
      const late = setTimeout(() => void ending.terminate(), ENDED_WITHIN_MS)
      await ended
      clearTimeout(late)
    },
    async kill() {
      await worker?.terminate()
    },
  }
}

/**
 * Program of a thread, as CommonJS. Worker threads do not inherit the loader that runs TypeScript, so sources register it
 * again.
 */
async function programOf({ source, name }: { source: URL; name: string }): Promise<string> {
  if (!IS_SOURCE) {
    const file = bundled(name)
    const url = JSON.stringify(file.href)
    return `const THREAD_URL = ${url}; require = require('node:module').createRequire(THREAD_URL);${await readCode(file)}`
  }
  const register = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  return `import(${register}).then(({ register }) => { register(); return import(${JSON.stringify(source.href)}) })`
}

/** Resolves from the bundle's chunks and from its entry file. */
const bundled = (name: string): URL =>
  new URL(`${/\/chunks\/[^/]*$/.test(import.meta.url) ? '..' : '.'}/threads/${name}.cjs`, import.meta.url)
