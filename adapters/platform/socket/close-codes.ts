/** Close codes of this service, besides those of the protocol itself (RFC 6455 section 7.4). */
export const CLOSE = {
  /** The service stops. */
  goingAway: 1001,
  /** A frame was too large. */
  tooBig: 1009,
  /** Internal error. */
  failed: 1011,
  /** The store did not answer. */
  tryAgain: 1013,
  /** Closed with `DELETE /api/connections/{id}`. */
  asked: 4000,
  /** No valid ticket or key, or the key was revoked or has expired. */
  unauthenticated: 4401,
} as const
