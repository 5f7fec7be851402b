import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import { Badge } from '../../components/components.ts'
import { ESCROW_TONES } from './escrow-status.ts'

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
