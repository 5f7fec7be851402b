import { type Items, itemsOf, sendable } from '../../../src/inference/continue/continued-request.ts'
import { structureBytes } from '../../../src/text/json-structure.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import type { Fields } from '../../../src/text/typed-reader.ts'
import type { BufferedBytes } from '../../../src/wire/buffered-bytes.ts'

/** The latest response of a connection, which the next request may continue although nobody has stored it. */
export interface EarlierResponse {
  /** Conversation up to and including the response. Null for another response than the latest. */
  itemsOf(id: string): Items | null
  /** Keeps a response in place of the one before it, if there is room. */
  keep(request: Fields, response: unknown): void
  forget(): void
}

/** @param deps.buffered counts it among the bodies in memory, for its caller */
export function createEarlierResponse(deps: { buffered: BufferedBytes; callerId: string }): EarlierResponse {
  const { buffered, callerId } = deps
  let latest: { id: string; items: Items } | null = null
  const owner = { request: {}, callerId }

  function forget(): void {
    latest = null
    buffered.release(owner.request)
  }
  return {
    itemsOf: (id) => (latest?.id === id ? latest.items : null),
    keep(request, response) {
      forget()
      const { id, output } = fieldsOrNone(response)
      if (typeof id !== 'string') return
      const items = [...itemsOf(request.input), ...sendable(output)]
      const text = Buffer.from(JSON.stringify(items))
      try {
        buffered.take(owner, text.length + structureBytes(text))
        latest = { id, items }
      } catch {
        // Without room it is forgotten: the client sends its whole conversation again.
      }
    },
    forget,
  }
}
