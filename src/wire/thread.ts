import { Worker } from 'node:worker_threads'
import type { Message } from './thread-code.ts'

/** How long a thread may take to end by itself, in milliseconds. */
const ENDED_WITHIN_MS = 5_000
/** Whether this is the source, and not the bundle. */
const IS_SOURCE = import.meta.url.endsWith('.ts')

/** Where the code of a thread is, which `answerQuestions` runs. */
export interface ThreadCode {
  /** In the source; the bundle has no such file. */
  source: URL
  /** What the build calls it: `dist/threads/NAME.js`. */
  name: string
}

/** A thread that answers one question at a time; it runs from the first question on, and does not keep the process up. */
export interface Thread<Question, Answer> {
  /**
   * The questions must not overlap.
   *
   * @throws an error with the message and the fields of the one that was thrown there. One that ended the thread is followed
   *   by another thread, for the next question
   */
  ask(question: Question): Promise<Answer>
  /** Ends it once it has answered, or in 5 s. */
  close(): Promise<void>
  /** Ends it whatever it does. */
  kill(): Promise<void>
}

/**
 * A thread of this process for what would keep the main one busy.
 *
 * @param data what its code finds in `workerData`, asked when it is started
 */
export function createThread<Question, Answer>(code: ThreadCode, data: () => unknown): Thread<Question, Answer> {
  let worker: Worker | undefined
  let answering: { resolve(answer: Answer): void; reject(error: unknown): void } | undefined

  function start(): Worker {
    const started = open(code, data())
    const over = (error: unknown) => {
      if (worker === started) worker = undefined
      answering?.reject(error)
      answering = undefined
    }
    started.on('message', (message: Message<Answer>) => {
      // It is idle now.
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
    ask(question) {
      return new Promise((resolve, reject) => {
        worker ??= start()
        answering = { resolve, reject }
        worker.ref()
        worker.postMessage({ question })
      })
    },
    async close() {
      const ending = worker
      if (ending === undefined) return
      const ended = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.ref()
      // It hears of it after what it works on.
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

/** Threads do not inherit what makes Node read TypeScript. */
function open({ source, name }: ThreadCode, workerData: unknown): Worker {
  if (!IS_SOURCE) return new Worker(bundled(name), { workerData })
  const register = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const code = `import(${register}).then(({ register }) => { register(); return import(${JSON.stringify(source.href)}) })`
  return new Worker(code, { workerData, eval: true })
}

/** Seen from the bundle's chunks, and from its start. */
const bundled = (name: string): URL =>
  new URL(`${/\/chunks\/[^/]*$/.test(import.meta.url) ? '..' : '.'}/threads/${name}.js`, import.meta.url)
