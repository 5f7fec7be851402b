import { randomUUID } from 'node:crypto'
import { Credential, PaymentRequest } from 'mppx'

/**
 * What makes each challenge one of its own, for its `meta`. Without it those for the same terms in one millisecond are the
 * same, and of the clients that answer them only the first has paid.
 */
export const unique = (): Record<string, string> => ({ unique: randomUUID() })

/**
 * The same as the challenge of a credential has it, which is yet to be verified.
 *
 * @throws SyntaxError where it cannot be read
 */
export function uniqueOf(credential: string): Record<string, string> {
  const { opaque } = Credential.deserialize(credential).challenge
  const meta = opaque === undefined ? {} : PaymentRequest.deserialize(opaque)
  return typeof meta.unique === 'string' ? { unique: meta.unique } : {}
}
