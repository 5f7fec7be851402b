import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Field, TextInput } from '../../components/components.ts'
import { shortId } from '../../format.ts'
import { MoveDialog, type Moving } from './move-dialog.tsx'

/** Confirms the refund of locked money to its payer. */
export function RefundDialog({ task, names, ...on }: Moving) {
  const { id, payer, status } = on.escrow
  const [reason, setReason] = useState('')
  const why = status === 'expired' ? 'the escrow has expired' : `the task is ${task.status}`
  const refund = async () => {
    await api.post(`/api/wallet/escrow/${id}/refund`, reason.trim() ? { reason: reason.trim() } : {})
    return `went back to ${names.of(payer)}`
  }
  const facts = {
    From: (
      <>
        escrow <code>{shortId(id)}</code>
      </>
    ),
    To: (
      <>
        <strong>{names.of(payer)}</strong>, who locked it
      </>
    ),
    For: `${task.title}: ${why}`,
    Then: 'Nobody is paid for this task. This cannot be undone.',
  }
  return (
    <MoveDialog action="Refund" facts={facts} move={refund} {...on}>
      <Field label="Reason" hint="Optional. Shown with the escrow.">
        <TextInput value={reason} onInput={setReason} maxLength={500} />
      </Field>
    </MoveDialog>
  )
}
