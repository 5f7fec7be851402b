import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Beginning of the line about billing in the instructions of Claude Code. */
const BILLING = 'x-anthropic-billing-header:'

/** Tells whether a block of instructions is the line that Claude Code puts first for Anthropic alone. */
export const isBilling = ({ text }: Fields): boolean => typeof text === 'string' && text.startsWith(BILLING)

/**
 * Takes the line about billing out of a Messages request. It differs in each session, so that no cache would be found
 * behind it.
 *
 * @returns the request itself when there is none
 */
export function withoutBilling(request: object): object {
  const { system, ...given } = request as Fields
  if (!objectsOrNone(system).some(isBilling)) return request
  const left = objectsOrNone(system).filter((block) => !isBilling(block))
  return left.length === 0 ? given : { ...given, system: left }
}
