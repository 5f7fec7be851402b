import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import { Badge, type Tone } from '../../components/content.ts'

/** Status of an escrow and of its payment on a chain. */
export function EscrowState({ of }: { of: Escrow }) {
  const { status, settlement } = of
  return (
    <span class="actions">
      <Badge tone={ESCROW_TONES[status]}>{status}</Badge>
      {settlement.status !== 'none' && (
        <Badge tone={settlement.status === 'failed' ? 'bad' : 'neutral'}>payment {settlement.status}</Badge>
      )}
    </span>
  )
}

type EscrowStatus = Escrow['status']

/** Tells whether the money of an escrow is still locked. */
export const isLive = ({ status }: Escrow): boolean => status === 'locked' || status === 'expired'

/** Colours of the statuses of escrows. */
const ESCROW_TONES: Record<EscrowStatus, Tone> = {
  locked: 'accent',
  released: 'good',
  settled: 'good',
  expired: 'warn',
  refunded: 'neutral',
}

/** Statuses of escrows. */
export const ESCROW_STATUSES = Object.keys(ESCROW_TONES) as EscrowStatus[]
