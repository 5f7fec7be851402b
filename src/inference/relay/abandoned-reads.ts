import { GazewayError } from '../../errors.ts'
import { createInFlight } from '../../wire/in-flight.ts'
import { hasWords, textOf } from '../observe/generated-text.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import type { Receiver } from './receiver.ts'

/** Most answers that a process reads to their end for clients that have left. */
const MOST_READS = 64

/** Counts the answers that are read to their end although their clients have left. */
export interface LateReads {
  /** Begins one. @returns ends it; null when there are as many as a process reads */
  begin(): (() => void) | null
  /** Notes a call that goes on after its client has its answer. */
  follow(call: Promise<unknown>): void
  /** Waits for these calls. */
  ended(): Promise<unknown>
}

/** Creates the late reads of this process. */
export function createLateReads(): LateReads {
  let reads = 0
  const followed = createInFlight<Promise<unknown>>()
  return {
    follow(call) {
      void call.finally(followed.add(call))
    },
    ended: () => Promise.allSettled(followed.all()),
    begin() {
      if (reads >= MOST_READS) return null
      reads += 1
      return () => {
        reads -= 1
      }
    },
  }
}

/** Terms on which an answer is read once its client has left. */
export interface LateReading {
  reads: Pick<LateReads, 'begin'>
  /** Time until the upstream is ended, in milliseconds. Null: the answer is read to its end. */
  forMs: number | null
  /** The same once another attempt has answered first. */
  overtakenForMs: number
}

/** The receiver of an answer that is read on, for what it costs, after its client has left. */
export interface LateReceiver extends Receiver {
  hasLeft(): boolean
  onSent(): void
  isSent(): boolean
  /** True when the answer was not read on, as too many others were. */
  isUnread(): boolean
  /** Time of the first text that was passed on, by the monotonic clock. Null before it. */
  firstTextAt(): number | null
  /** Time of the first text that was no reasoning, and the bytes of the text before it. */
  thought(): { untilAt: number | null; bytes: number }
  /** Stops reading. */
  release(): void
}

/**
 * Keeps an upstream answering for a client that leaves, so that its usage is known. What comes then is discarded. The
 * upstream is ended at once when the service itself ends the call.
 */
export function lateReceiver(receiver: Receiver, { reads, forMs, overtakenForMs }: LateReading): LateReceiver {
  const listeners: Array<() => void> = []
  let left = false
  let isUnread = false
  /** True when the client had all of the answer, or the upstream is to end. */
  let isOver = false
  let isWhole = false
  let isSent = false
  let firstTextAt: number | null = null
  let firstWordAt: number | null = null
  let thoughtBytes = 0
  let timer: NodeJS.Timeout | undefined
  let endRead: (() => void) | undefined
  let onDrain: (() => void) | undefined

  receiver.onGone(() => {
    if (isWhole || isOver) return
    const reason = receiver.reason?.()
    const isOvertaken = reason instanceof GazewayError && isRaceLost(reason)
    if (reason instanceof GazewayError && !(isOvertaken && overtakenForMs > 0)) return end()
    if (left) return
    left = true
    readOn(isOvertaken ? overtakenForMs : forMs)
    onDrain?.()
  })

  function readOn(ms: number | null): void {
    if (isSent && ms !== null) timer = setTimeout(end, ms)
    else if (isSent) endRead = reads.begin() ?? undefined
    isUnread = isSent && ms === null && endRead === undefined
    if (!isSent || isUnread) end()
  }
  function end(): void {
    isOver = true
    for (const listener of listeners) listener()
  }
  function noteText(events: Buffer): void {
    const text = textOf(events)
    if (text === '') return
    firstTextAt ??= performance.now()
    if (hasWords(events)) firstWordAt = performance.now()
    else thoughtBytes += Buffer.byteLength(text)
  }
  /** Runs a step for a client that is still there. */
  const unlessLeft = (step: () => void): void => (left ? undefined : step())

  return {
    isGone: () => isOver || (!left && receiver.isGone()),
    onGone: (listener) => void listeners.push(listener),
    reason: () => receiver.reason?.(),
    hasLeft: () => left,
    isSole: receiver.isSole,
    onSent() {
      isSent = true
    },
    isSent: () => isSent,
    isUnread: () => isUnread,
    firstTextAt: () => firstTextAt,
    thought: () => ({ untilAt: firstWordAt, bytes: thoughtBytes }),
    whole(...reply) {
      isWhole = true
      unlessLeft(() => receiver.whole(...reply))
    },
    hold: receiver.hold && ((...head) => unlessLeft(() => receiver.hold?.(...head))),
    start: (event) => unlessLeft(() => receiver.start?.(event)),
    watch: (tap) => receiver.watch?.(tap),
    paid: () => receiver.paid?.() ?? null,
    head: (...head) => unlessLeft(() => receiver.head(...head)),
    write(bytes) {
      if (firstWordAt === null) noteText(Buffer.from(bytes as Buffer))
      return left || receiver.write(bytes)
    },
    onDrain(resume) {
      onDrain = resume
      receiver.onDrain(resume)
    },
    complete() {
      isWhole = true
    },
    end(bytes) {
      isWhole = true
      unlessLeft(() => receiver.end(bytes))
    },
    drop() {
      // A client that no longer reads has left, unless the service has ended its call.
      if (left) return
      left = !(receiver.reason?.() instanceof GazewayError)
      isOver = true
      receiver.drop()
    },
    release() {
      clearTimeout(timer)
      endRead?.()
    },
  }
}
