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
    'recipient: rewards are paid on a chain; accepted: the address to pay, 0x and 40 hexadecimal digits.',
    { param: 'recipient' },
  )
}
