import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import { nameOf } from '../../components/caller-name.tsx'
import { Badge, Countdown, Facts, notify } from '../../components/content.ts'
import { Button, Confirm, TextField } from '../../components/forms.ts'
import { percent, shortId, usdExact } from '../../format.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { isLive } from './escrow-state.tsx'

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
        <Button size="small" onClick={() => onAsk({ what: 'release', escrow, task })} children="Release…" />
      )}
      {canRefund && <Button size="small" onClick={() => onAsk({ what: 'refund', escrow, task })} children="Refund…" />}
      {!canRelease && !canRefund && <span class="muted">Its task is {task.status}</span>}
    </>
  )
}

/** Confirms the release or refund of an escrow. */
export function EscrowDialog(props: { asked: EscrowAsked; onMoved: () => void; onClose: () => void }) {
  const { asked, ...rest } = props
  const { what, escrow, task } = asked
  if (what === 'release') return <ReleaseDialog escrow={escrow} task={task} {...rest} />
  return <RefundDialog escrow={escrow} task={task} {...rest} />
}

/** Confirms the payment of a reward, with the attestation that proves attention to its task. */
function ReleaseDialog({ task, ...on }: Moving) {
  const { escrow } = on
  const isReviewed = task.review !== null
  const ofTask = `/api/attestation/status?task_id=${task.id}`
  const found = useLive<Attestation>(isReviewed ? null : ofTask, { everyMs: 5000 })
  const [typed, setTyped] = useState<string | null>(null)
  const attestation = typed ?? found.data?.id ?? ''

  const release = async () => {
    await api.post('/api/wallet/escrow/release', { escrow_id: escrow.id, attestation_id: attestation.trim() })
    return `moved to ${recipientOf(escrow, task)}`
  }
  const facts = {
    From: (
      <>
        escrow <code>{shortId(escrow.id)}</code>, where <strong>{nameOf(escrow.payer)}</strong> locked it
      </>
    ),
    To: (
      <>
        <strong>{recipientOf(escrow, task)}</strong>
        {escrow.recipient === task.claimed_by && `, which completed the task as ${task.agent ?? 'its agent'}`}
      </>
    ),
    For: task.title,
    How:
      escrow.settlement.mode === 'evm'
        ? 'A payment on the chain is queued. This cannot be undone.'
        : 'A transfer in the ledger, at once. This cannot be undone.',
  }
  return (
    <MoveDialog action="Release" facts={facts} move={release} {...on}>
      <TextField
        label={isReviewed ? 'Review' : 'Attestation'}
        hint={isReviewed ? <ReviewHint /> : <AttestationHint of={found.data} task={task} />}
        value={attestation}
        onInput={setTyped}
        placeholder={isReviewed ? 'rev_…' : 'att_…'}
        spellcheck={false}
        autoComplete="off"
      />
    </MoveDialog>
  )
}

/** Recipient of a reward: the named one, or the key that completed the task. */
function recipientOf({ recipient, payer }: Escrow, { claimed_by }: Task): string {
  return nameOf(recipient ?? claimed_by ?? payer)
}

function ReviewHint() {
  return (
    <>
      This reward takes an approved review of the result by its payer. <a href={href('reviews')}>All reviews</a>
    </>
  )
}

/** Latest attestation for a task. @param of null before there is one */
function AttestationHint({ of, task }: { of: Attestation | null; task: Task }) {
  if (of === null)
    return (
      <>
        No gaze session is bound to this task yet.{' '}
        <a href={href('capture', { query: { task: task.id } })}>Record one</a>, or name its attestation.
      </>
    )
  const tone = of.status === 'passed' ? 'good' : of.status === 'failed' ? 'bad' : 'warn'
  const needed = task.gaze_level
  return (
    <>
      The latest one for this task: <Badge tone={tone}>{of.status}</Badge> level “{of.level}”, score{' '}
      {percent(of.poa_score)}
      {needed && `; this task needs “${needed}”`}
      {of.status === 'passed' && (
        <>
          , expires in <Countdown to={of.expires_at} over="(expired)" />
        </>
      )}
    </>
  )
}

/** Confirms the refund of locked money to its payer. */
function RefundDialog({ task, ...on }: Moving) {
  const { id, payer, status } = on.escrow
  const [reason, setReason] = useState('')
  const why = status === 'expired' ? 'the escrow has expired' : `the task is ${task.status}`
  const refund = async () => {
    await api.post(`/api/wallet/escrow/${id}/refund`, reason.trim() ? { reason: reason.trim() } : {})
    return `went back to ${nameOf(payer)}`
  }
  const facts = {
    From: (
      <>
        escrow <code>{shortId(id)}</code>
      </>
    ),
    To: (
      <>
        <strong>{nameOf(payer)}</strong>, who locked it
      </>
    ),
    For: `${task.title}: ${why}`,
    Then: 'Nobody is paid for this task. This cannot be undone.',
  }
  return (
    <MoveDialog action="Refund" facts={facts} move={refund} {...on}>
      <TextField
        label="Reason"
        hint="Optional. Shown with the escrow."
        value={reason}
        onInput={setReason}
        maxLength={500}
      />
    </MoveDialog>
  )
}

/** An escrow that is released or refunded. */
interface Moving {
  escrow: Escrow
  task: Task
  onMoved: () => void
  onClose: () => void
}

/**
 * Confirms that the money of an escrow moves.
 *
 * @param facts from where, to whom and for what
 * @param move sends the request; returns the notice that the money has moved
 * @param children the field of the request
 */
function MoveDialog(
  props: Omit<Moving, 'task'> & {
    action: 'Release' | 'Refund'
    facts: Record<string, ComponentChildren>
    move: () => Promise<string>
    children: ComponentChildren
  },
) {
  const { escrow, action, facts, move, onMoved, onClose } = props
  const amount = usdExact(escrow.amount_usd)
  const what = (
    <>
      <strong>{amount}</strong> in {escrow.token}
    </>
  )
  const confirm = async () => {
    notify(`${amount} ${await move()}.`)
    onMoved()
  }
  return (
    <Confirm
      title={`${action} ${amount}?`}
      tone={action === 'Release' ? 'primary' : 'danger'}
      action={`${action} ${amount}`}
      onConfirm={confirm}
      onClose={onClose}
      body={
        <div class="stack">
          <Facts of={{ 'What moves': what, ...facts }} />
          {props.children}
        </div>
      }
    />
  )
}
