import type { SilenceWatch, Wait } from '../../wire/silence.ts'
import type { Receiver } from './receiver.ts'

/** How long a stream that is held back shows its client nothing, in milliseconds: many proxies end a silent one after 60 s. */
export const HEARTBEAT_MS = 15_000
/** A comment; every reader of events skips it (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const HEARTBEAT = ': keepalive\n\n'

/** The receiver of a stream whose beginning may be held back. */
export interface HeldReceiver extends Receiver {
  hold: NonNullable<Receiver['hold']>
  /** Whether its client has a head: whatever goes wrong is an event then. */
  isBegun(): boolean
  /** Ends the heartbeats, where no head of a stream did. */
  release(): void
}

/**
 * A receiver for a stream that may still be answered from elsewhere. From `hold` to the true `head` its client gets a
 * comment now and then, the head that was held with the first of them; a head that comes later is left out.
 *
 * @param heartbeat by whose limit the comments come
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
    ...receiver,
    hold(...head) {
      held = head
      wait ??= heartbeat.begin(beat)
    },
    head(...head) {
      release()
      begin(...head)
    },
    isBegun: () => begun,
    release,
  }
}
