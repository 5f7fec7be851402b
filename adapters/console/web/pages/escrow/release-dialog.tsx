import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Badge, Confirm, Countdown, Facts, Field, notify, TextInput } from '../../components/components.ts'
import { exactUsd } from '../../components/exact.tsx'
import { percent, shortId } from '../../format.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'

interface Props {
  escrow: Escrow
  task: Task
  names: Names
  onMoved: () => void
  onClose: () => void
}

/** Confirms the payment of a reward, with the attestation that proves attention to its task. */
export function ReleaseDialog({ escrow, task, names, onMoved, onClose }: Props) {
  const found = useLive<Attestation>(`/api/attestation/status?task_id=${task.id}`, { everyMs: 5000 })
  const [typed, setTyped] = useState<string | null>(null)
  const attestation = typed ?? found.data?.id ?? ''
  const onChain = escrow.settlement.mode === 'evm'

  const release = async () => {
    await api.post<Escrow>('/api/wallet/escrow/release', { escrow_id: escrow.id, attestation_id: attestation.trim() })
    notify(`${exactUsd(escrow.amount_usd)} moved to ${recipientOf(escrow, task, names)}.`)
    onMoved()
  }
  return (
    <Confirm
      title={`Release ${exactUsd(escrow.amount_usd)}?`}
      open
      tone="primary"
      action={`Release ${exactUsd(escrow.amount_usd)}`}
      onConfirm={release}
      onClose={onClose}
      body={
        <div class="stack">
          <Facts
            of={{
              'What moves': (
                <>
                  <strong>{exactUsd(escrow.amount_usd)}</strong> in {escrow.token}
                </>
              ),
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
              How: onChain
                ? 'A payment on the chain is queued. This cannot be undone.'
                : 'A transfer in the ledger, at once. This cannot be undone.',
            }}
          />
          <Field label="Attestation" hint={<AttestationHint of={found.data} task={task} />}>
            <TextInput
              value={attestation}
              onInput={setTyped}
              placeholder="att_…"
              spellcheck={false}
              autoComplete="off"
            />
          </Field>
        </div>
      }
    />
  )
}

/** Recipient of a reward: the named one, or the key that completed the task. */
function recipientOf({ recipient, payer }: Escrow, { claimed_by }: Task, names: Names): string {
  return names.of(recipient ?? claimed_by ?? payer)
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
  return (
    <>
      The latest one for this task: <Badge tone={tone}>{of.status}</Badge> score {percent(of.poa_score)}
      {of.status === 'passed' && (
        <>
          , expires in <Countdown to={of.expires_at} over="(expired)" />
        </>
      )}
    </>
  )
}
