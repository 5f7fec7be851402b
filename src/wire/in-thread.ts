import { GazewayError } from '../errors.ts'
import { createThread, type ThreadCode } from './thread.ts'

/** Threads that work at once. */
const AT_ONCE = 2
/** Whoever would be the next to wait is refused. */
const MOST_WAITING = 32

const waiting: Array<() => void> = []
let working = 0

/**
 * What a thread of its own makes of `input`: for work that cannot be cut into parts. A thread takes some 50 ms to start, and
 * two work at once.
 *
 * @param signal ends it early
 * @throws GazewayError `too_many_requests`, `cancelled`; or an error with the message and the fields of what the thread threw
 */
export async function inThread<Input, Output>(code: ThreadCode, input: Input, signal?: AbortSignal): Promise<Output> {
  await turn()
  const thread = createThread<Input, Output>(code, () => null)
  const kill = () => void thread.kill()
  signal?.addEventListener('abort', kill, { once: true })
  try {
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
  if (waiting.length >= MOST_WAITING)
    throw new GazewayError('too_many_requests', 'Too much of this work is waiting already; try again in a moment.', {
      retryAfterSeconds: 1,
    })
  await new Promise<void>((resolve) => void waiting.push(resolve))
}

/** Whoever waits works in the place of whoever leaves. */
function leave(): void {
  const next = waiting.shift()
  if (next) next()
  else working--
}

const cancelled = () => new GazewayError('cancelled', 'The caller cancelled the work.')
