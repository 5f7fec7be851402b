import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/server'
import { isLoadingCode } from '../../src/lazily.ts'

/**
 * Step in which the time after the end of input is counted, in milliseconds. A process that was suspended, or that a busy
 * machine does not run, loses one step at most.
 */
const STEP_MS = 500
/**
 * Grace period after the end of input, in steps. Each answer within it extends it once more: a client that has sent
 * everything may still read. The total is at most twice this, without the loading of code.
 */
const GRACE_STEPS = 8
/** Maximum time that the grace period waits for code that is being loaded, in steps. */
const LOADING_STEPS = 40

/** Requests of the client without an answer yet. */
interface Unanswered {
  add(request: JSONRPCRequest): void
  /** Notes that a request has its answer, which the client may still have to read. */
  answer(id: RequestId): void
  /** Removes a request that was cancelled, or whose answer was read. */
  delete(id: RequestId): void
  /** Starts the grace period. */
  end(): void
  isEnding(): boolean
  /** Stops waiting. */
  stop(): void
}

/** @param onEnd called once nothing waits after the end of input, with the tools or methods that got no answer in time */
export function createUnanswered(onEnd: (lost: readonly string[]) => void): Unanswered {
  /** Tool or method of each request; null once there is an answer. */
  const waiting = new Map<RequestId, string | null>()
  let steps: NodeJS.Timeout | undefined
  let passed = 0
  let loading = 0
  let until = GRACE_STEPS
  function step(): void {
    if (isLoadingCode() && loading < LOADING_STEPS) {
      loading += 1
      return
    }
    passed += 1
    if (passed >= until) onEnd([...waiting.values()].filter((name) => name !== null))
  }
  return {
    add(request) {
      // It is answered when the client ends it, not before.
      if (request.method !== 'subscriptions/listen') waiting.set(request.id, nameOf(request))
    },
    answer(id) {
      if (waiting.has(id)) waiting.set(id, null)
    },
    delete(id) {
      waiting.delete(id)
      if (steps === undefined) return
      if (waiting.size === 0) onEnd([])
      else if (passed < GRACE_STEPS) until = passed + GRACE_STEPS
    },
    end() {
      steps = setInterval(step, STEP_MS)
      if (waiting.size === 0) onEnd([])
    },
    isEnding: () => steps !== undefined,
    stop: () => clearInterval(steps),
  }
}

/** Tool of a call; the method of another request. */
const nameOf = ({ method, params }: JSONRPCRequest): string =>
  method === 'tools/call' && typeof params?.name === 'string' ? params.name : method
