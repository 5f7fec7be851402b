import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Tone } from '../../components/components.ts'

export type EscrowStatus = Escrow['status']

/** Tells whether its money is still locked. */
export const isLive = ({ status }: Escrow): boolean => status === 'locked' || status === 'expired'

/** The colour of an escrow's status. */
export const ESCROW_TONES: Record<EscrowStatus, Tone> = {
  locked: 'accent',
  released: 'good',
  settled: 'good',
  expired: 'warn',
  refunded: 'neutral',
}

/** Statuses of escrows. */
export const ESCROW_STATUSES = Object.keys(ESCROW_TONES) as EscrowStatus[]
