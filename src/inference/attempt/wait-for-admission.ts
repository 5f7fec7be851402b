import { GazewayError } from '../../errors.ts'
import type { SilenceWatch } from '../../wire/idle-watch.ts'
import type { Admission, CallerContext, ModelRequest } from '../admit/admit.ts'
import { errorEvent } from '../passages/error-event.ts'
import { lateEvents, mayBeginEarly } from '../passages/late-events.ts'
import { type BegunReceiver, begunReceiver } from '../relay/begun-receiver.ts'
import { beatOf } from '../relay/heartbeats.ts'
import type { Receiver } from '../relay/receiver.ts'
import { earlyHeaders } from './hold-client.ts'

/** A call that waits for its admission: for money, its rate limits, or the list of a provider. */
interface WaitingCall {
  asked: ModelRequest
  admitted: Promise<Admission>
  receiver: Receiver
  context: CallerContext
}

/**
 * Waits until a call is admitted, and makes it. The client of a stream gets heartbeats meanwhile; the first one begins
 * the stream, and a later refusal ends it as an error event.
 *
 * @param heartbeat schedules the heartbeats
 * @param make makes the call for the receiver that takes its reply from now on
 * @throws GazewayError the refusal, and as `make`, also after the client got it as an event
 */
export async function onceAdmitted<T>(
  heartbeat: SilenceWatch,
  { asked: { endpoint, request }, admitted, receiver, context: { requestId } }: WaitingCall,
  make: (call: Admission, receiver: Receiver) => Promise<T>,
): Promise<T> {
  if (!mayBeginEarly(endpoint, request.json)) return make(await admitted, receiver)
  let begun: BegunReceiver | null = null
  function beat(): void {
    heartbeat.heard(wait)
    if (receiver.isGone()) return
    if (receiver.beat) {
      receiver.beat()
      return
    }
    if (begun === null) receiver.head(200, earlyHeaders(endpoint, requestId))
    begun ??= begunReceiver(receiver, (status, body) => lateEvents(endpoint, { status, body }, requestId))
    begun.write(beatOf(endpoint))
  }
  const wait = heartbeat.begin(beat)
  try {
    const call = await admitted.finally(() => heartbeat.end(wait))
    return await make(call, begun ?? receiver)
  } catch (error) {
    if (error instanceof GazewayError) (begun as BegunReceiver | null)?.fail(errorEvent(endpoint, error, requestId))
    throw error
  }
}
