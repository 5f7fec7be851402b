import type { SilenceWatch } from '../../wire/idle-watch.ts'
import type { Admission } from '../admit/admit.ts'
import { lateEvents, mayBeginEarly } from '../passages/late-events.ts'
import { type HeldReceiver, heldReceiver } from '../relay/heartbeat-receiver.ts'
import { beatOf } from '../relay/heartbeats.ts'
import type { Receiver } from '../relay/receiver.ts'

/** Headers of a stream that begins before its upstream has answered. */
export const earlyHeaders = (endpoint: string, requestId: string | null): Record<string, string> => ({
  'content-type': 'text/event-stream',
  ...(endpoint === '/messages' && requestId !== null && { 'request-id': requestId }),
})

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
    beat: beatOf(endpoint),
    isSole: isSole || !isStream,
    eventsOf: (status, body) => lateEvents(endpoint, { status, body }, context.requestId),
  })
  if (!mayBeginEarly(endpoint, request.json)) return { held, onCall: undefined }
  const headers = { ...earlyHeaders(endpoint, context.requestId), ...bill.headers }
  return { held, onCall: (callId) => held.expect({ ...headers, 'x-gazeway-call-id': callId }) }
}
