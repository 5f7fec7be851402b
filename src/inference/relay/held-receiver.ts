import type { SilenceWatch, Wait } from '../../wire/silence.ts'
import type { Receiver } from './receiver.ts'

/**
 * Longest silence towards a client while its stream is held back, in milliseconds: many proxies close a silent one
 * after 60 s.
 */
export const HEARTBEAT_MS = 15_000
/** A comment, which every event reader ignores (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const HEARTBEAT = ': keepalive\n\n'

/** Receiver of a stream whose beginning may be held back. */
export interface HeldReceiver extends Receiver {
  hold: NonNullable<Receiver['hold']>
  /** True once the client has received headers. Errors are events from then on. */
  isBegun(): boolean
  /** Stops the heartbeats, if the headers of a stream have not. */
  release(): void
}

/**
 * Creates a receiver for a stream that another candidate may still answer. Between `hold` and the final `head`, the
 * client gets heartbeat comments, with the held headers before the first one. A `head` after that is ignored.
 *
 * @param heartbeat schedules the comments
 */
export function heldReceiver(receiver: Receiver, heartbeat: SilenceWatch): HeldReceiver {
  let held: Parameters<Receiver['head']> | undefined
  let wait: Wait | undefined
  let begun = false

  function begin(...head: Parameters<Receiver['head']>): void {
    if (!begun) receiver.head(...head)
    begun = true
  }
  function beat(): void {
    if (!held || !wait || receiver.isGone()) return
    const [status, headers] = held
    // Another candidate may answer in the end.
    const { 'x-gazeway-upstream': _, 'x-gazeway-attempts': __, ...known } = headers
    begin(status, known)
    receiver.write(HEARTBEAT)
    heartbeat.heard(wait)
  }
  function release(): void {
    if (wait) heartbeat.end(wait)
    wait = undefined
  }
  return {
    isGone: receiver.isGone,
    onGone: receiver.onGone,
    reason: () => receiver.reason?.(),
    hold(...head) {
      held = head
      wait ??= heartbeat.begin(beat)
    },
    head(...head) {
      release()
      begin(...head)
    },
    watch: (tap) => receiver.watch?.(tap),
    paid: () => receiver.paid?.() ?? null,
    whole: receiver.whole,
    write: receiver.write,
    onDrain: receiver.onDrain,
    end: receiver.end,
    drop: receiver.drop,
    isBegun: () => begun,
    release,
  }
}
