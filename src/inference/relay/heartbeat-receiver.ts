import type { SilenceWatch, Wait } from '../../wire/idle-watch.ts'
import type { Receiver } from './receiver.ts'

/** Receiver of a stream whose client hears something regularly, and which several candidates may answer in turn. */
export interface HeldReceiver extends Receiver {
  hold: NonNullable<Receiver['hold']>
  start: NonNullable<Receiver['start']>
  /** Announces the headers of a stream that no candidate has answered yet; they are sent if it takes long. */
  expect(headers: Record<string, string>): void
  /** True once the client has received headers. Errors are events from then on. */
  isBegun(): boolean
  /** Stops the heartbeats. */
  release(): void
}

/** Options of {@link heldReceiver}. */
export interface HeldOptions {
  /** Schedules the heartbeats. */
  heartbeat: SilenceWatch
  /** Whole event that clients ignore. */
  beat: string
  /** True when one candidate alone can answer. */
  isSole: boolean
  /** Converts a whole reply that comes once the stream has begun to its last events. */
  eventsOf(status: number, body: Buffer | string): Buffer | string
}

/**
 * Creates a receiver for a stream. Its client gets a heartbeat in each silence, between whole events, with the announced
 * headers before the first one. Only the first `head` is sent, and only the first `start`: what comes then continues it.
 */
export function heldReceiver(receiver: Receiver, options: HeldOptions): HeldReceiver {
  const { heartbeat, beat, isSole, eventsOf } = options
  let held: Parameters<Receiver['head']> | undefined
  let wait: Wait | undefined
  let begun = false
  let started = false

  function hold(...head: Parameters<Receiver['head']>): void {
    held = head
    wait ??= heartbeat.begin(onSilence)
  }
  function begin(status: number, headers: Record<string, string>): void {
    if (!begun) receiver.head(status, headers)
    begun = true
  }
  function onSilence(): void {
    if (!held || !wait || receiver.isGone()) return
    heartbeat.heard(wait)
    if (receiver.beat) receiver.beat()
    else beatIn(...held)
  }
  function beatIn(status: number, headers: Record<string, string>): void {
    begin(status, isSole ? headers : withoutAttempt(headers))
    receiver.write(beat)
  }
  function write(bytes: Buffer | string): boolean {
    if (wait) heartbeat.heard(wait)
    return receiver.write(bytes)
  }
  function release(): void {
    if (wait) heartbeat.end(wait)
    wait = undefined
    held = undefined
  }
  return {
    isSole,
    isGone: receiver.isGone,
    onGone: receiver.onGone,
    reason: () => receiver.reason?.(),
    expect: (headers) => (held === undefined ? hold(200, headers) : undefined),
    hold,
    head(...head) {
      hold(...head)
      begin(...head)
    },
    start(event) {
      if (!started) write(event)
      started = true
    },
    watch: (tap) => receiver.watch?.(tap),
    paid: () => receiver.paid?.() ?? null,
    whole(status, headers, bytes) {
      release()
      if (begun) receiver.end(eventsOf(status, bytes))
      else receiver.whole(status, headers, bytes)
    },
    write,
    onDrain: receiver.onDrain,
    end(bytes) {
      release()
      receiver.end(bytes)
    },
    drop() {
      release()
      receiver.drop()
    },
    isBegun: () => begun,
    release,
  }
}

/** Headers that hold for whichever candidate answers in the end. */
function withoutAttempt({
  'x-gazeway-upstream': _,
  'x-gazeway-attempts': __,
  ...known
}: Record<string, string>): Record<string, string> {
  return known
}
