import { useState } from 'preact/hooks'
import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import type { Names } from '../../components/caller-name.tsx'
import { Confirm, Facts, Field, notify, TextInput } from '../../components/components.ts'
import { exactUsd } from '../../components/exact.tsx'
import { shortId } from '../../format.ts'

interface Props {
  escrow: Escrow
  task: Task
  names: Names
  onMoved: () => void
  onClose: () => void
}

/** Confirms the refund of locked money to its payer. */
export function RefundDialog({ escrow, task, names, onMoved, onClose }: Props) {
  const [reason, setReason] = useState('')
  const why = escrow.status === 'expired' ? 'the escrow has expired' : `the task is ${task.status}`
  const refund = async () => {
    await api.post<Escrow>(`/api/wallet/escrow/${escrow.id}/refund`, reason.trim() ? { reason: reason.trim() } : {})
    notify(`${exactUsd(escrow.amount_usd)} went back to ${names.of(escrow.payer)}.`)
    onMoved()
  }
  return (
    <Confirm
      title={`Refund ${exactUsd(escrow.amount_usd)}?`}
      open
      action={`Refund ${exactUsd(escrow.amount_usd)}`}
      onConfirm={refund}
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
                  escrow <code>{shortId(escrow.id)}</code>
                </>
              ),
              To: (
                <>
                  <strong>{names.of(escrow.payer)}</strong>, who locked it
                </>
              ),
              For: `${task.title}: ${why}`,
              Then: 'Nobody is paid for this task. This cannot be undone.',
            }}
          />
          <Field label="Reason" hint="Optional. Shown with the escrow.">
            <TextInput value={reason} onInput={setReason} maxLength={500} />
          </Field>
        </div>
      }
    />
  )
}
