import type { GazewayError } from '../../errors.ts'
import { messageErrorOf } from './message-error.ts'
import { chatErrorEvent, responseErrorEvent, toSse } from './upstream-reply.ts'

/**
 * The error that ends a stream which has already begun, as the clients of its endpoint read it.
 *
 * @param endpoint below `/v1`
 * @param sequenceNumber of the event, which those of a Response have
 */
export function errorEvent(
  endpoint: string,
  error: GazewayError,
  requestId: string | null,
  sequenceNumber = 0,
): Buffer | string {
  if (endpoint === '/messages') return toSse([messageErrorOf(error, requestId)])
  return endpoint === '/responses'
    ? responseErrorEvent(error, requestId, sequenceNumber)
    : chatErrorEvent(error, requestId)
}
