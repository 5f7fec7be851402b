import { GazewayError } from '../errors.ts'
import { createThread, type ThreadCode } from './thread.ts'

/** Threads that run at the same time. */
const AT_ONCE = 2
/** Longest queue. Further work is refused. */
const MAX_WAITING = 32

const waiting: Array<() => void> = []
let working = 0

/**
 * Runs work that cannot be split in its own worker thread. Each call starts a thread; at most two run at the same time.
 *
 * @param signal terminates the thread early
 * @throws GazewayError `too_many_requests`, `cancelled`; or an error with the message and fields of the error in the
 *   thread
 */
export async function inThread<Input, Output>(code: ThreadCode, input: Input, signal?: AbortSignal): Promise<Output> {
  await turn()
  const thread = createThread<Input, Output>(code, () => null)
  const kill = () => void thread.kill()
  signal?.addEventListener('abort', kill, { once: true })
  try {
    // Before the check, because a thread that has not started cannot be killed.
    await code.program()
    if (signal?.aborted) throw cancelled()
    return await thread.ask(input)
  } catch (error) {
    throw signal?.aborted ? cancelled() : error
  } finally {
    signal?.removeEventListener('abort', kill)
    await thread.close()
    leave()
  }
}

async function turn(): Promise<void> {
  if (working < AT_ONCE) {
    working++
    return
  }
  if (waiting.length >= MAX_WAITING)
    throw new GazewayError('too_many_requests', 'Too much work of this kind is queued. Retry in a moment.', {
      retryAfterSeconds: 1,
    })
  await new Promise<void>((resolve) => void waiting.push(resolve))
}

/** Gives the free slot to the next call in the queue. */
function leave(): void {
  const next = waiting.shift()
  if (next) next()
  else working--
}

const cancelled = () => new GazewayError('cancelled', 'The caller cancelled the work.')
