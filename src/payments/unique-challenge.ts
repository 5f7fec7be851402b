import { randomUUID } from 'node:crypto'
import { Credential, PaymentRequest } from 'mppx'

/**
 * Unique value for the `meta` of a challenge. Without it, challenges for the same terms in one millisecond would be
 * equal, and only the first of their clients could pay.
 */
export const unique = (): Record<string, string> => ({ unique: randomUUID() })

/**
 * Reads the unique value from a credential that is not verified yet.
 *
 * @throws SyntaxError for a malformed credential
 */
export function uniqueOf(credential: string): Record<string, string> {
  const { opaque } = Credential.deserialize(credential).challenge
  const meta = opaque === undefined ? {} : PaymentRequest.deserialize(opaque)
  return typeof meta.unique === 'string' ? { unique: meta.unique } : {}
}
