import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Button } from '../../components/components.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { isLive } from './escrow-status.ts'
import { RefundDialog } from './refund-dialog.tsx'
import { ReleaseDialog } from './release-dialog.tsx'

/** Escrow to release or refund, with its task. */
export interface EscrowAsked {
  what: 'release' | 'refund'
  escrow: Escrow
  task: Task
}

/**
 * Actions on an escrow: release for its payer, its recipient and admins; refund for its payer and admins.
 *
 * @param task the escrow's task, once loaded
 */
export function EscrowActions(props: { escrow: Escrow; task: Task | undefined; onAsk: (asked: EscrowAsked) => void }) {
  const { escrow, task, onAsk } = props
  const { id = '', isAdmin = false } = session.value ?? {}
  const pays = isAdmin || id === escrow.payer
  if (!task || !isLive(escrow) || !(pays || id === escrow.recipient)) return null
  const isLost = task.status === 'failed' || task.status === 'cancelled'
  const canRelease = escrow.status === 'locked' && task.status === 'completed'
  const canRefund = pays && (escrow.status === 'expired' || isLost)
  return (
    <>
      {canRelease && task.review !== null && id === escrow.payer && (
        <a class="button small" href={href('reviews', { query: { task: task.id } })}>
          Review and pay…
        </a>
      )}
      {canRelease && (
        <Button size="small" onClick={() => onAsk({ what: 'release', escrow, task })}>
          Release…
        </Button>
      )}
      {canRefund && (
        <Button size="small" onClick={() => onAsk({ what: 'refund', escrow, task })}>
          Refund…
        </Button>
      )}
      {!canRelease && !canRefund && <span class="muted">Its task is {task.status}</span>}
    </>
  )
}

/** Confirms the release or refund of an escrow. */
export function EscrowDialog(props: { asked: EscrowAsked; names: Names; onMoved: () => void; onClose: () => void }) {
  const { asked, ...rest } = props
  const { what, escrow, task } = asked
  if (what === 'release') return <ReleaseDialog escrow={escrow} task={task} {...rest} />
  return <RefundDialog escrow={escrow} task={task} {...rest} />
}
