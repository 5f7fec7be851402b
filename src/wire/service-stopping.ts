import { GazewayError } from '../errors.ts'

/** Error for a call that was still incomplete when the grace period of a shutdown ended. */
export function serviceStopping(cause?: unknown): GazewayError {
  return new GazewayError('service_stopping', 'Gazeway stopped before the answer was complete. Retry the request.', {
    cause,
  })
}

/**
 * Maps the reason of an abort to an error. A GazewayError such as {@link serviceStopping} is kept; every other reason
 * means that the client cancelled or disconnected: `cancelled`.
 *
 * @param message message of the latter
 */
export function whyEnded(reason: unknown, message: string, cause?: unknown): GazewayError {
  return reason instanceof GazewayError ? reason : new GazewayError('cancelled', message, { cause })
}
