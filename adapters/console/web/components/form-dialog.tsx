import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import type { Editing } from './form-fields.tsx'
import { type FaultOf, SubmitForm } from './submit-form.tsx'

/**
 * Dialog with a form of one draft.
 *
 * @param initial draft at the beginning; later values are ignored
 * @param isReady tells whether the draft can be sent, from it and the initial one
 * @param onSubmit its error is shown, and the dialog stays
 * @param children the fields
 */
export function FormDialog<Draft extends object>(props: {
  title: string
  action: string
  initial: Draft
  wide?: boolean
  waiting?: string
  isReady?: (draft: Draft, initial: Draft) => boolean
  onSubmit: (draft: Draft, initial: Draft) => Promise<void>
  onClose: () => void
  children: (form: Editing<Draft> & { faultOf: FaultOf }) => ComponentChildren
}) {
  const { title, action, wide = false, waiting, isReady = () => true, onSubmit, onClose, children } = props
  const [initial] = useState(props.initial)
  const [draft, setDraft] = useState(initial)
  const edit = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  return (
    <Dialog title={title} open wide={wide} onClose={onClose}>
      <SubmitForm
        action={action}
        disabled={!isReady(draft, initial)}
        {...(waiting !== undefined && { waiting })}
        onSubmit={() => onSubmit(draft, initial)}
        onCancel={onClose}
      >
        {(faultOf) => children({ draft, edit, faultOf })}
      </SubmitForm>
    </Dialog>
  )
}
