import type { GroupRecord } from '../../../../../src/identity/group.ts'
import { api } from '../../api.ts'
import { FormDialog, FormFields, notify } from '../../components/components.ts'
import { usePostOnce } from '../../post-once.ts'
import { BudgetFields } from './budget-fields.tsx'
import { ALERTS, AS, type Draft, draftOf, NAME, type Term, termsIn } from './key-terms.ts'

const TERMS: readonly Term[] = [NAME, { name: 'budgets', as: AS.budgets, label: 'Budgets' }, ALERTS]

/** Creates a group, or changes its name, budgets and alerts. @param of null creates a group */
export function GroupDialog(props: { of: GroupRecord | null; onClose: () => void; onSaved: () => void }) {
  const { of, onClose, onSaved } = props
  const post = usePostOnce()
  const save = async (draft: Draft, was: Draft) => {
    const name = String(draft.name).trim()
    const { warnings } =
      of === null
        ? await post('/api/groups', termsIn(TERMS, draft))
        : await api.patch(`/api/groups/${of.id}`, termsIn(TERMS, draft, was))
    notify(of === null ? `Created the group ${name}.` : `Saved ${name}.`)
    for (const warning of warnings) notify(warning, 'warn')
    onSaved()
    onClose()
  }
  return (
    <FormDialog<Draft>
      title={of === null ? 'New group' : `Edit ${of.name}`}
      action={of === null ? 'Create group' : 'Save group'}
      initial={draftOf(TERMS, of ?? {})}
      isReady={(draft, was) => String(draft.name).trim() !== '' && Object.keys(termsIn(TERMS, draft, was)).length > 0}
      onSubmit={save}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[{ ...NAME, hint: 'Must be unique.' }]} />
          <BudgetFields at="budgets" {...form} />
          <FormFields {...form} fields={[ALERTS]} />
          <p class="hint">Calls count against these budgets and those of their key.</p>
        </>
      )}
    </FormDialog>
  )
}
