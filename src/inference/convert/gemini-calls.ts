import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** A call of an earlier answer that waits for its result. */
interface OpenCall {
  id: string
  name: string
  /** True when its client has sent the id. */
  isNamed: boolean
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
  let open: OpenCall[] = []

  const idOf = (value: unknown): string | null => {
    const { id } = fieldsOrNone(value)
    return typeof id === 'string' && id !== '' ? id : null
  }

  return {
    open(call, place) {
      const own = idOf(call)
      const id = own ?? `call_${place}`
      open.push({ id, name: String(call.name), isNamed: own !== null })
      return id
    },
    close(result, place) {
      const own = idOf(result)
      const unnamed = own === null ? open : open.filter(({ isNamed }) => !isNamed)
      const found = open.find(({ id }) => id === own) ?? unnamed.find(({ name }) => name === result.name) ?? unnamed[0]
      open = open.filter((call) => call !== found)
      return found?.id ?? own ?? `call_${place}`
    },
  }
}
