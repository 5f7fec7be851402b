import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Tone } from '../../components/components.ts'

export type EscrowStatus = Escrow['status']

/** Tells whether the money of an escrow is still locked. */
export const isLive = ({ status }: Escrow): boolean => status === 'locked' || status === 'expired'

/** Colours of the statuses of escrows. */
export const ESCROW_TONES: Record<EscrowStatus, Tone> = {
  locked: 'accent',
  released: 'good',
  settled: 'good',
  expired: 'warn',
  refunded: 'neutral',
}

/** Statuses of escrows. */
export const ESCROW_STATUSES = Object.keys(ESCROW_TONES) as EscrowStatus[]
