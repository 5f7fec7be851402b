import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'

const ZERO = /^0x0{40}$/

/**
 * The address that a payment on the chain goes to, in lower case.
 *
 * @throws GazewayError `validation_failed` for what is not one, and for the zero address, from which nothing comes back
 */
export function requireAddress(recipient: string | null): string {
  const address = WalletAddress.safeParse(recipient)
  if (address.success && !ZERO.test(address.data)) return address.data
  throw new GazewayError(
    'validation_failed',
    'recipient: rewards are paid on a chain here; accepted: the address of 0x and 40 hexadecimal digits that is to be paid.',
    { param: 'recipient' },
  )
}
