import { CODING_AGENT_NAMES } from '../../src/coding-agents/agent-names.ts'

const [first, ...others] = CODING_AGENT_NAMES
const OFFER = `To have a coding agent use it: gazeway connect ${first} (or ${others.join(', ')})`

/**
 * Offers to connect a coding agent at the first start of a gateway in a terminal.
 *
 * @param firstKey the admin key if this start made it
 * @returns null at later starts, and where nobody reads
 */
export const connectOffer = (firstKey: string | null, isTerminal: boolean | undefined): string | null =>
  firstKey !== null && isTerminal === true ? OFFER : null
