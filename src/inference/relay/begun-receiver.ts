import type { Receiver } from './receiver.ts'

/** Receiver of a reply whose stream has begun with something else. */
export interface BegunReceiver extends Receiver {
  /** Ends the stream with these events, unless it has ended. */
  fail(events: Buffer | string): void
}

/**
 * Creates a receiver for the reply of a stream that has begun: its headers are sent, and a whole reply ends it as events.
 *
 * @param eventsOf converts a whole reply to its last events
 */
export function begunReceiver(
  receiver: Receiver,
  eventsOf: (status: number, body: Buffer | string) => Buffer | string,
): BegunReceiver {
  let isEnded = false
  function end(bytes?: Buffer | string): void {
    isEnded = true
    receiver.end(bytes)
  }
  return {
    isGone: receiver.isGone,
    onGone: receiver.onGone,
    reason: receiver.reason,
    hasLeft: receiver.hasLeft,
    onSent: receiver.onSent,
    watch: receiver.watch,
    head() {},
    whole: (status, _headers, bytes) => end(eventsOf(status, bytes)),
    write: receiver.write,
    onDrain: receiver.onDrain,
    end,
    drop() {
      isEnded = true
      receiver.drop()
    },
    fail: (events) => (isEnded ? undefined : end(events)),
  } as BegunReceiver
}
