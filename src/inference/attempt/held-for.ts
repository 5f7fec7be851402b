import type { SilenceWatch } from '../../wire/silence.ts'
import type { Admission } from '../admit/admit.ts'
import { lateEvents, mayBeginEarly } from '../passages/late-events.ts'
import { type HeldReceiver, heldReceiver } from '../relay/held-receiver.ts'
import type { Receiver } from '../relay/receiver.ts'

/** A comment, which every event reader ignores (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const COMMENT = ': keepalive\n\n'
/** Anthropic's own heartbeat (https://docs.claude.com/en/docs/build-with-claude/streaming). */
const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

/** The receiver of a stream, and what tells it of attempts. */
export interface HeldCall {
  held: HeldReceiver
  /** Called with the id of each attempt. Undefined where the reply may be no event stream. */
  onCall: ((callId: string) => void) | undefined
}

/**
 * Holds the client of a call that may be streamed.
 *
 * @param heartbeat schedules the heartbeats
 * @param isSole true when one candidate alone can answer
 * @returns null for a call that is never streamed
 */
export function heldFor(
  heartbeat: SilenceWatch,
  call: Admission,
  receiver: Receiver,
  isSole: boolean,
): HeldCall | null {
  const { endpoint, request, verbatim, bill, context } = call
  const isStream = request.json.stream === true
  if (!isStream && verbatim === null) return null
  const held = heldReceiver(receiver, {
    heartbeat,
    beat: endpoint === '/messages' ? PING : COMMENT,
    isSole: isSole || !isStream,
    eventsOf: (status, body) => lateEvents(endpoint, { status, body }, context.requestId),
  })
  if (!mayBeginEarly(endpoint, request.json)) return { held, onCall: undefined }
  const id = endpoint === '/messages' && context.requestId !== null ? { 'request-id': context.requestId } : {}
  return {
    held,
    onCall: (callId) =>
      held.expect({ 'content-type': 'text/event-stream', ...bill.headers, ...id, 'x-gazeway-call-id': callId }),
  }
}
