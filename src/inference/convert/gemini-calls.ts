import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** A call of an earlier answer. */
interface EarlierCall {
  id: string
  isAnswered: boolean
}

/** Pairs calls of functions with their results. Gemini's clients may send both without ids. */
export interface CallPairs {
  /** Opens a call. @returns its id; one that its place in the conversation determines where it has none */
  open(call: Fields, place: string): string
  /** Finds the call of a result, by its id, else the first open one of its name, else the first open one. */
  close(result: Fields, place: string): string
}

/** Creates the pairs of one conversation. */
export function createCallPairs(): CallPairs {
  const byId = createQueues()
  /** All calls, and those without an id of their client; those of each name, and those of any. */
  const all = { byName: createQueues(), any: createQueues() }
  const unnamed = { byName: createQueues(), any: createQueues() }

  const idOf = (value: unknown): string | null => {
    const { id } = fieldsOrNone(value)
    return typeof id === 'string' && id !== '' ? id : null
  }

  return {
    open(call, place) {
      const own = idOf(call)
      const id = own ?? `call_${place}`
      const opened = { id, isAnswered: false }
      byId.add(id, opened)
      for (const { byName, any } of own === null ? [all, unnamed] : [all]) {
        byName.add(String(call.name), opened)
        any.add('', opened)
      }
      return id
    },
    close(result, place) {
      const own = idOf(result)
      const { byName, any } = own === null ? all : unnamed
      const found = (own === null ? null : byId.first(own)) ?? byName.first(result.name) ?? any.first('')
      if (found !== null) found.isAnswered = true
      return found?.id ?? own ?? `call_${place}`
    },
  }
}

/** Calls in their order, by a key. */
interface Queues {
  add(key: unknown, call: EarlierCall): void
  /** The first one that has no result yet. */
  first(key: unknown): EarlierCall | null
}

/** Creates empty queues. What has a result is passed once: a hostile conversation has half a million calls. */
function createQueues(): Queues {
  const queues = new Map<unknown, { calls: EarlierCall[]; at: number }>()
  return {
    add(key, call) {
      const queue = queues.get(key)
      if (queue === undefined) queues.set(key, { calls: [call], at: 0 })
      else queue.calls.push(call)
    },
    first(key) {
      const queue = queues.get(key)
      if (queue === undefined) return null
      while (queue.calls[queue.at]?.isAnswered === true) queue.at++
      return queue.calls[queue.at] ?? null
    },
  }
}
