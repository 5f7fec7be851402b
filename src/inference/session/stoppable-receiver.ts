import type { GazewayError } from '../../errors.ts'
import { nextNumber } from '../observe/next-sequence-number.ts'
import type { Receiver } from '../relay/receiver.ts'

/** Receiver of a reply that can be stopped from elsewhere. */
export interface StoppableReceiver {
  receiver: Receiver
  /** Ends the call with an error: a stream that has begun with an event. Does nothing once the reply is complete. */
  stop(error: GazewayError): void
}

/**
 * Creates a receiver whose call can be stopped.
 *
 * @param errorEvent builds an error event for the stream, with its sequence number
 */
export function stoppableReceiver(
  receiver: Receiver,
  errorEvent: (error: GazewayError, sequenceNumber: number) => Buffer | string,
): StoppableReceiver {
  const listeners: Array<() => void> = []
  let stopped: GazewayError | null = null
  let begun = false
  let isOver = false
  let last: Buffer | string | undefined

  /** Notes that the stream has begun. @returns whether it goes on */
  function goesOn(): boolean {
    begun = true
    return stopped === null
  }

  return {
    stop(error) {
      if (stopped !== null || isOver || receiver.isGone()) return
      stopped = error
      if (begun) receiver.end(errorEvent(error, nextNumber(last === undefined ? null : Buffer.from(last as Buffer))))
      for (const listener of listeners) listener()
    },
    receiver: {
      isGone: () => stopped !== null || receiver.isGone(),
      onGone(listener) {
        listeners.push(listener)
        receiver.onGone(listener)
      },
      reason: () => stopped ?? receiver.reason?.(),
      hasLeft: receiver.hasLeft,
      onSent: receiver.onSent,
      beat: receiver.beat,
      isSole: receiver.isSole,
      hold: receiver.hold,
      start: receiver.start && ((event) => (goesOn() ? receiver.start?.(event) : undefined)),
      watch: receiver.watch,
      paid: receiver.paid,
      whole(...reply) {
        isOver = true
        if (stopped === null) receiver.whole(...reply)
      },
      head(...head) {
        if (goesOn()) receiver.head(...head)
      },
      write(bytes) {
        if (!goesOn()) return true
        last = bytes
        return receiver.write(bytes)
      },
      onDrain: receiver.onDrain,
      complete: receiver.complete,
      end(bytes) {
        isOver = true
        if (stopped === null) receiver.end(bytes)
      },
      drop() {
        if (stopped === null) receiver.drop()
      },
    } as Receiver,
  }
}
