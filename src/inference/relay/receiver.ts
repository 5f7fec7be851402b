import type { Client, StreamReply } from './send.ts'
import type { SseTap } from './sse-tap.ts'

/** Whoever a reply goes to: an HTTP response, seen from the domain. */
export interface Receiver extends Client {
  /** The whole reply at once. */
  whole(status: number, headers: Record<string, string>, bytes: Buffer | string): void
  /** Only where a stream may be held back: the head that it is going to have, which goes out should that take long. */
  hold?(status: number, headers: Record<string, string>): void
  /** Told of what reads the stream on its way, before the first of it. */
  watch?(tap: SseTap): void
  /** The head of a stream; `write` and `end` follow. */
  head(status: number, headers: Record<string, string>): void
  /** @returns false when the client reads more slowly than it is written to; wait for `onDrain` then */
  write(bytes: Buffer | string): boolean
  onDrain(resume: () => void): void
  end(bytes?: Buffer | string): void
  /** Ends the connection of a reader that has stalled. */
  drop(): void
}

/** How a stream ended. */
export type StreamEnd = { kind: 'complete' } | { kind: 'gone' } | { kind: 'broken'; error: Error }

/** So long an upstream may take to close a stream that is over, and to say more in one that has failed. */
const CLOSING_MS = 1000

/**
 * Passes a stream on as it arrives, at the pace of its reader, until its upstream ends it or says that it is over, or falls
 * silent after it has reported an error. What follows `[DONE]` in the same piece is passed on too; nothing that comes
 * later is.
 *
 * @param options.isOver asked after each piece: whether the stream is complete although no `[DONE]` has gone by
 * @param options.filter what to pass on of the whole events that have arrived; the tap has seen them
 * @param options.stallMs how long a reader may leave its connection full before it counts as gone
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
    /** The upstream's connection can be used again once the reply ends, which most do at once. */
    function leaveOpen(): void {
      if (stalled !== undefined) resume()
      settle({ kind: 'complete' })
      clearTimeout(closing)
      closing = setTimeout(() => exchange.abort(), CLOSING_MS).unref()
    }
    /** What has failed has little more to say: how much it used, at most. What waits for the reader is still to come. */
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
      // What has arrived already is passed on although the reader is behind: the first of it began to wait.
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
          // Before the abort, which the transport reports as an error of its own.
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
        // The transport may report its end before the receiver's own listener is called: who reads in process waits for it.
        if (receiver.isGone()) gone()
        else settle({ kind: 'broken', error })
      },
    })
  })
}
