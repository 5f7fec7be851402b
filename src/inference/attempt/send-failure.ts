import type { Admission } from '../admit/admit.ts'
import { errorEvent, refusedEvent } from '../passages/error-event.ts'
import type { Failed } from '../passages/passage.ts'
import { attemptHeaders, passedHeaders } from '../passages/upstream-reply.ts'
import type { HeldReceiver } from '../relay/heartbeat-receiver.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Result } from './try-candidate.ts'

/**
 * Sends the failure to the client: as an event that ends its stream where that has begun.
 *
 * @param held the receiver of a stream. Null for other calls
 * @throws its error, unless the stream has begun or it is an error reply of the upstream
 */
export function sendFailure(
  failed: Failed,
  { receiver, held }: { receiver: Receiver; held: HeldReceiver | null },
  { bill, endpoint, context }: Admission,
  { callId, provider, attempt, changes }: Pick<Result, 'callId' | 'provider' | 'attempt' | 'changes'>,
): void {
  const {
    refused,
    begun,
    outcome: { error },
  } = failed
  if (held?.isBegun()) {
    const own = endpoint === '/messages' && refused !== null ? refusedEvent(refused.shown) : null
    held.end(own ?? errorEvent(endpoint, error, context.requestId, begun?.sequence))
    return
  }
  if (!refused) {
    error.headers = { ...error.headers, ...attemptHeaders({ provider, attempt }) }
    throw error
  }
  receiver.whole(
    refused.status,
    passedHeaders(refused.headers, { callId, provider, attempt, bill, changes }),
    refused.shown,
  )
}
