import { conversationWith, type Items } from '../../../src/inference/continue/continued-request.ts'
import { structureBytes } from '../../../src/text/json-structure.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import type { Fields } from '../../../src/text/typed-reader.ts'
import type { BufferedBytes } from '../../../src/wire/buffered-bytes.ts'

/** The latest response of a connection, which the next request may continue although nobody has stored it. */
export interface EarlierResponse {
  /** Finds the conversation up to and including a response. Null for another response than the latest. */
  find(id: string): Conversation | null
  /** Keeps a response in place of the one before it, if there is room. */
  keep(request: CountedRequest, response: unknown): void
  forget(): void
}

/** Conversation with its bytes in memory, by estimate. */
interface Conversation {
  items: Items
  size: number
}

/** Request with its bytes in memory, by estimate. */
export interface CountedRequest {
  json: Fields
  /** False where JavaScript has lost digits of a number. It is not kept, so that its client sends the whole conversation. */
  isExact: boolean
  size: number
}

/** @param deps.buffered counts it among the bodies in memory, for its caller */
export function createEarlierResponse(deps: { buffered: BufferedBytes; callerId: string }): EarlierResponse {
  const { buffered, callerId } = deps
  let latest: ({ id: string } & Conversation) | null = null
  const owner = { request: {}, callerId }

  function forget(): void {
    latest = null
    buffered.release(owner.request)
  }
  return {
    find: (id) => (latest?.id === id ? latest : null),
    keep({ json, isExact, size }, response) {
      forget()
      const { id, output } = fieldsOrNone(response)
      if (typeof id !== 'string' || !isExact) return
      try {
        const text = Buffer.from(JSON.stringify(output ?? []))
        const both = size + text.length + structureBytes(text)
        buffered.take(owner, both)
        latest = { id, items: conversationWith(json.input, output), size: both }
      } catch {
        // Without room, or nested too deeply, it is forgotten: the client sends its whole conversation again.
      }
    },
    forget,
  }
}
