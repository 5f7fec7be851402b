import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Badge, Countdown, Field, TextInput } from '../../components/components.ts'
import { percent, shortId } from '../../format.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { MoveDialog, type Moving } from './move-dialog.tsx'

/** Confirms the payment of a reward, with the attestation that proves attention to its task. */
export function ReleaseDialog({ task, names, ...on }: Moving) {
  const { escrow } = on
  const isReviewed = task.review !== null
  const ofTask = `/api/attestation/status?task_id=${task.id}`
  const found = useLive<Attestation>(isReviewed ? null : ofTask, { everyMs: 5000 })
  const [typed, setTyped] = useState<string | null>(null)
  const attestation = typed ?? found.data?.id ?? ''

  const release = async () => {
    await api.post('/api/wallet/escrow/release', { escrow_id: escrow.id, attestation_id: attestation.trim() })
    return `moved to ${recipientOf(escrow, task, names)}`
  }
  const facts = {
    From: (
      <>
        escrow <code>{shortId(escrow.id)}</code>, where <strong>{names.of(escrow.payer)}</strong> locked it
      </>
    ),
    To: (
      <>
        <strong>{recipientOf(escrow, task, names)}</strong>
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
      <Field
        label={isReviewed ? 'Review' : 'Attestation'}
        hint={isReviewed ? <ReviewHint /> : <AttestationHint of={found.data} task={task} />}
      >
        <TextInput
          value={attestation}
          onInput={setTyped}
          placeholder={isReviewed ? 'rev_…' : 'att_…'}
          spellcheck={false}
          autoComplete="off"
        />
      </Field>
    </MoveDialog>
  )
}

/** Recipient of a reward: the named one, or the key that completed the task. */
function recipientOf({ recipient, payer }: Escrow, { claimed_by }: Task, names: Names): string {
  return names.of(recipient ?? claimed_by ?? payer)
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
