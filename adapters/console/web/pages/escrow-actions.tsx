import { useState } from 'preact/hooks'
import type { Names } from '../components/caller.tsx'
import { Button } from '../components/index.ts'
import { session } from '../session.ts'
import type { Escrow } from './escrow-records.ts'
import { RefundDialog } from './escrow-refund.tsx'
import { ReleaseDialog } from './escrow-release.tsx'
import type { Task } from './tasks-records.ts'

/**
 * What the signed-in key can do about an escrow: release or refund it, for its payer and admins.
 *
 * @param task the escrow's, once it is known
 */
export function EscrowActions(props: { escrow: Escrow; task: Task | undefined; names: Names; onMoved: () => void }) {
  const { escrow, task } = props
  const [asking, setAsking] = useState<'release' | 'refund' | null>(null)
  const { id = '', isAdmin = false } = session.value ?? {}
  const isLive = escrow.status === 'locked' || escrow.status === 'expired'
  if (!task || !isLive || !(isAdmin || id === escrow.payer)) return null
  const isLost = task.status === 'failed' || task.status === 'cancelled'
  const canRelease = escrow.status === 'locked' && task.status === 'completed'
  const canRefund = escrow.status === 'expired' || isLost
  const given = { escrow, task, names: props.names, onMoved: props.onMoved, onClose: () => setAsking(null) }
  return (
    <>
      {canRelease && (
        <Button size="small" tone="primary" onClick={() => setAsking('release')}>
          Release…
        </Button>
      )}
      {canRefund && (
        <Button size="small" onClick={() => setAsking('refund')}>
          Refund…
        </Button>
      )}
      {!canRelease && !canRefund && <span class="muted">Its task is {task.status}</span>}
      {asking === 'release' && <ReleaseDialog {...given} />}
      {asking === 'refund' && <RefundDialog {...given} />}
    </>
  )
}
