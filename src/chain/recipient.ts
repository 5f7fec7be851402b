import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'

const ZERO = /^0x0{40}$/

/**
 * Validates the address of a payment on the chain, and returns it in lower case.
 *
 * @throws GazewayError `validation_failed` for other text and for the zero address, which nobody can spend from
 */
export function requireAddress(recipient: string | null): string {
  const address = WalletAddress.safeParse(recipient)
  if (address.success && !ZERO.test(address.data)) return address.data
  throw new GazewayError(
    'validation_failed',
    'recipient: missing; rewards are paid on a chain, so it must be an address of 0x and 40 hexadecimal digits.',
    { param: 'recipient' },
  )
}
