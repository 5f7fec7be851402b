import { GazewayError } from '../errors.ts'

/** What ends an answer that is not complete when a service that was told to stop waits no longer. */
export function serviceStopping(cause?: unknown): GazewayError {
  return new GazewayError(
    'service_stopping',
    'Gazeway is stopping, and the answer was not complete. Send the request again.',
    { cause },
  )
}

/**
 * Why a call was ended before its answer was complete, by the reason that its signal was aborted with: the error that
 * this is, such as {@link serviceStopping}; else `cancelled`, because its client cancelled or went away.
 *
 * @param said the message of the latter
 */
export function whyEnded(reason: unknown, said: string, cause?: unknown): GazewayError {
  return reason instanceof GazewayError ? reason : new GazewayError('cancelled', said, { cause })
}
