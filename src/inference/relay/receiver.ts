import type { GazewayError } from '../../errors.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply } from './exchange.ts'
import type { Client } from './send.ts'

/** Receiver of a reply: an HTTP response, seen from the domain. */
export interface Receiver extends Client {
  /** Sends a whole reply. */
  whole(status: number, headers: Record<string, string>, bytes: Buffer | string): void
  /** Announces the headers of a stream that may be held back; they are sent if it takes long. Optional. */
  hold?(status: number, headers: Record<string, string>): void
  /** Receives the tap of the stream, before its first byte. Null for a whole reply that is sent as a stream. */
  watch?(tap: SseTap | null): void
  /**
   * Waits until the sent parts are paid for. Null when none of them waits for money.
   *
   * @returns the error that the client gets instead of parts that were not paid for
   */
  paid?(): Promise<GazewayError | null> | null
  /** Sends the headers of a stream. `write` and `end` follow. */
  head(status: number, headers: Record<string, string>): void
  /**
   * Sends a part of a stream.
   *
   * @returns false when the client reads too slowly; wait for `onDrain` then
   */
  write(bytes: Buffer | string): boolean
  onDrain(resume: () => void): void
  end(bytes?: Buffer | string): void
  /** Closes the connection of a stalled reader. */
  drop(): void
}

/** End of a stream. */
export type StreamEnd = { kind: 'complete' } | { kind: 'gone' } | { kind: 'broken'; error: Error }

/** Time for an upstream to close a finished stream, or to say more after an error, in milliseconds. */
const CLOSING_MS = 1000

/**
 * Passes a stream on as it arrives, at the pace of its reader. It ends when the upstream ends it or signals its end, or
 * is silent after an error. Anything after `[DONE]` in the same chunk is passed on; later chunks are not.
 *
 * @param options.isOver called after each chunk; tells whether the stream is complete although no `[DONE]` has passed
 * @param options.filter selects the whole events to pass on; the tap has seen them
 * @param options.stallMs time after which a stalled reader counts as disconnected
 */
export function pump(
  reply: StreamReply,
  receiver: Receiver,
  tap: SseTap,
  options: {
    filter: (events: Buffer) => Buffer | null
    onFirst: () => void
    stallMs: number
    isOver?: (() => boolean) | undefined
  },
): Promise<StreamEnd> {
  return new Promise((resolve) => {
    let first = true
    let over = false
    let stalled: NodeJS.Timeout | undefined
    let closing: NodeJS.Timeout | undefined
    const { exchange } = reply

    function settle(end: StreamEnd): void {
      clearTimeout(stalled)
      over = true
      resolve(end)
    }
    function gone(): void {
      if (over) return
      settle({ kind: 'gone' })
      exchange.abort()
      receiver.drop()
    }
    function resume(): void {
      clearTimeout(stalled)
      stalled = undefined
      exchange.resume()
    }
    /** Leaves the connection open for reuse: most upstreams end the reply at once. */
    function leaveOpen(): void {
      if (stalled !== undefined) resume()
      settle({ kind: 'complete' })
      clearTimeout(closing)
      closing = setTimeout(() => exchange.abort(), CLOSING_MS).unref()
    }
    /** A failed stream may still report its usage. Chunks that wait for the reader are still to come. */
    function endUnlessMore(): void {
      clearTimeout(closing)
      closing = setTimeout(() => {
        if (over) return
        if (stalled !== undefined) return endUnlessMore()
        settle({ kind: 'complete' })
        exchange.abort()
      }, CLOSING_MS).unref()
    }
    function pass(events: Buffer | null): void {
      const bytes = events && options.filter(events)
      if (!bytes || bytes.length === 0 || receiver.write(bytes)) return
      // Chunks that have already arrived are passed on even when the reader is behind.
      if (stalled !== undefined) return
      exchange.pause()
      stalled = setTimeout(gone, options.stallMs)
      receiver.onDrain(resume)
    }

    if (receiver.isGone()) {
      gone()
      return
    }
    receiver.onGone(gone)
    receiver.watch?.(tap)
    reply.consume({
      onData(chunk) {
        if (over) return
        // Some providers send comments until the model begins.
        if (first && chunk.includes('data:')) {
          options.onFirst()
          first = false
        }
        try {
          pass(tap.push(chunk))
          if (tap.ending().done || options.isOver?.()) leaveOpen()
          else if (tap.failed() !== null && (closing === undefined || chunk.includes('data:'))) endUnlessMore()
        } catch (error) {
          // Before the abort, which the transport reports as another error.
          settle({ kind: 'broken', error: error as Error })
          exchange.abort()
        }
      },
      onEnd() {
        clearTimeout(closing)
        if (over) return
        try {
          pass(tap.rest())
          settle({ kind: 'complete' })
        } catch (error) {
          settle({ kind: 'broken', error: error as Error })
        }
      },
      onError(error) {
        clearTimeout(closing)
        // The transport may report its end before the receiver's own listener is called; an in-process reader depends
        // on this order.
        if (receiver.isGone()) gone()
        else settle({ kind: 'broken', error })
      },
    })
  })
}
