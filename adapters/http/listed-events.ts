import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { splitEvents } from '../../src/wire/whole-sse-events.ts'

const DATA = 'data: '

/**
 * Passes a stream of events on as one JSON list, as Google's API does for clients that do not ask for events. White space
 * between the events stays, as it keeps the connection alive.
 */
export function asList(receiver: Receiver): Receiver {
  let isBegun = false

  /** Each event is whole. A bare error after the event with it is omitted. */
  function listed(bytes: Buffer | string): string {
    return splitEvents(Buffer.from(bytes as Buffer))
      .map((event) => event.toString('utf8'))
      .filter((event) => event.startsWith(DATA) || event.trim() === '')
      .map((event) => {
        if (!event.startsWith(DATA)) return event
        const before = isBegun ? ',\n' : '['
        isBegun = true
        return before + event.slice(DATA.length).trimEnd()
      })
      .join('')
  }

  return {
    ...receiver,
    head: (status, headers) => receiver.head(status, { ...headers, 'content-type': 'application/json' }),
    write: (bytes) => receiver.write(listed(bytes)),
    end(bytes) {
      const last = bytes === undefined ? '' : listed(bytes)
      receiver.end(`${last}${isBegun ? '' : '['}]\n`)
    },
  }
}
