import type { GazewayError } from '../../errors.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { Exchange, StreamReply } from './exchange.ts'
import type { Client } from './send.ts'

/**
 * Receiver of a reply: an HTTP response, seen from the domain. One that wraps another names each member: V8 is slow to add
 * members after a spread, which showed in the cost of each call.
 */
export interface Receiver extends Client {
  /** Sends a whole reply. */
  whole(status: number, headers: Record<string, string>, bytes: Buffer | string): void
  /** Takes the place of a heartbeat in the stream: a reader in this process needs none, a socket has its own. */
  beat?: (() => void) | undefined
  /** False when another candidate may answer, so that the beginning of a stream waits for its first output. */
  isSole?: boolean | undefined
  /** Announces the headers of a stream that may be held back; they are sent if it takes long. Optional. */
  hold?: ((status: number, headers: Record<string, string>) => void) | undefined
  /** Sends the event that starts an answer, unless an earlier candidate has sent its own. Optional. */
  start?: ((event: Buffer) => void) | undefined
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
  /** Tells that the client has all of a stream, of which only the usage may still come. Optional. */
  complete?(): void
  end(bytes?: Buffer | string): void
  /** Closes the connection of a stalled reader. */
  drop(): void
}

/** End of a stream. It is `silent` where it was ended here: the upstream said no more after an error, or its signal. */
export type StreamEnd = { kind: 'complete' } | { kind: 'silent' } | { kind: 'gone' } | { kind: 'broken'; error: Error }

/** Time for an upstream to close a finished stream, or to say more after an error, in milliseconds. */
const CLOSING_MS = 1000

/**
 * Passes a stream on as it arrives, at the pace of its reader. It ends when the upstream ends it or signals its end, or
 * is silent after an error. Anything after `[DONE]` in the same chunk is passed on; later chunks are not, and are only read
 * for the usage of a call with limits that has none yet.
 *
 * @param options.isOver called after each chunk; tells whether the stream is complete although no `[DONE]` has passed
 * @param options.filter selects the whole events to pass on; the tap has seen them
 * @param options.needsUsage true when the end waits a moment for the usage
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
    needsUsage?: boolean
    isOver?: (() => boolean) | undefined
  },
): Promise<StreamEnd> {
  return new Promise((resolve) => {
    let first = true
    /** True once the client has all of the stream. */
    let isWhole = false
    const { exchange } = reply
    const pace = createPace(exchange, receiver, options.stallMs, gone)
    const end = createEnd(exchange, pace, resolve)

    function gone(): void {
      if (end.isOver()) return
      end.abort({ kind: 'gone' })
      receiver.drop()
    }
    function pass(events: Buffer | null): void {
      const bytes = events && !isWhole ? options.filter(events) : null
      if (bytes && bytes.length > 0) pace.write(bytes)
    }
    function complete(): void {
      const isTold = options.needsUsage !== true || tap.usage() !== null || tap.failed() !== null
      if (isTold) end.leaveOpen()
      else if (!isWhole) end.unlessMore()
      if (isTold || isWhole) return
      isWhole = true
      receiver.complete?.()
    }
    function onData(chunk: Buffer): void {
      if (end.isOver()) return
      // Some providers send comments until the model begins.
      if (first && chunk.includes('data:')) {
        options.onFirst()
        first = false
      }
      try {
        pass(tap.push(chunk))
        if (isWhole || tap.ending().done || options.isOver?.()) complete()
        else if (tap.failed() !== null && (!end.isDue() || chunk.includes('data:'))) end.unlessMore()
      } catch (error) {
        end.abort({ kind: 'broken', error: error as Error })
      }
    }
    function onEnd(): void {
      end.stopWaiting()
      if (end.isOver()) return
      try {
        pass(tap.rest())
        end.settle({ kind: 'complete' })
      } catch (error) {
        end.settle({ kind: 'broken', error: error as Error })
      }
    }
    function onError(error: Error): void {
      end.stopWaiting()
      // The transport may report its end before the receiver's own listener is called; an in-process reader depends on
      // this order.
      if (isWhole) end.settle({ kind: 'complete' })
      else if (receiver.isGone()) gone()
      else end.settle({ kind: 'broken', error })
    }

    if (receiver.isGone()) return gone()
    receiver.onGone(gone)
    receiver.watch?.(tap)
    reply.consume({ onData, onEnd, onError })
  })
}

/** Ends a stream once. */
interface End {
  isOver(): boolean
  settle(end: StreamEnd): void
  /** Settles before the abort, which the transport reports as another error. */
  abort(end: StreamEnd): void
  /** Completes the stream, and leaves the connection open for reuse: most upstreams end the reply at once. */
  leaveOpen(): void
  /** Ends a failed or finished stream unless it says more: it may still report its usage. */
  unlessMore(): void
  /** True once `unlessMore` or `leaveOpen` was called. */
  isDue(): boolean
  stopWaiting(): void
}

function createEnd(exchange: Exchange, pace: Pace, resolve: (end: StreamEnd) => void): End {
  let over = false
  let closing: NodeJS.Timeout | undefined
  const closeBy = (close: () => void) => {
    clearTimeout(closing)
    closing = setTimeout(close, CLOSING_MS).unref()
  }
  const end: End = {
    isOver: () => over,
    settle(how) {
      pace.stop()
      over = true
      resolve(how)
    },
    abort(how) {
      end.settle(how)
      exchange.abort()
    },
    leaveOpen() {
      if (pace.isStalled()) pace.resume()
      end.settle({ kind: 'complete' })
      closeBy(() => exchange.abort())
    },
    unlessMore: () =>
      closeBy(() => {
        if (over) return
        // Chunks that wait for the reader are still to come.
        if (pace.isStalled()) end.unlessMore()
        else end.abort({ kind: 'silent' })
      }),
    isDue: () => closing !== undefined,
    stopWaiting: () => clearTimeout(closing),
  }
  return end
}

/** Pace of a stream: its upstream is paused while the reader is behind. */
interface Pace {
  write(bytes: Buffer): void
  isStalled(): boolean
  resume(): void
  /** Stops waiting for the reader. */
  stop(): void
}

/** @param onStall called when the reader has read nothing for `stallMs` */
function createPace(exchange: Exchange, receiver: Receiver, stallMs: number, onStall: () => void): Pace {
  let stalled: NodeJS.Timeout | undefined
  function resume(): void {
    clearTimeout(stalled)
    stalled = undefined
    exchange.resume()
  }
  return {
    write(bytes) {
      // Chunks that have already arrived are passed on even when the reader is behind.
      if (receiver.write(bytes) || stalled !== undefined) return
      exchange.pause()
      stalled = setTimeout(onStall, stallMs)
      receiver.onDrain(resume)
    },
    isStalled: () => stalled !== undefined,
    resume,
    stop: () => clearTimeout(stalled),
  }
}
