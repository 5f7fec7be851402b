import type { GroupRecord } from '../../../../../src/identity/group.ts'
import { api } from '../../api.ts'
import { type FieldSpec, FormDialog, FormFields, notify } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { ALERTS, alertsIn, alertsText } from './alert-draft.ts'
import { type BudgetDraft, budgetDrafts, budgetsIn } from './budget-draft.ts'
import { BudgetFields } from './budget-fields.tsx'
import { differing } from './key-draft.ts'

/** Group while it is edited. */
interface GroupDraft {
  name: string
  budgets: readonly BudgetDraft[]
  alerts: string
}

const NAME: FieldSpec<GroupDraft> = {
  name: 'name',
  label: 'Name',
  hint: 'Must be unique.',
  required: true,
  maxLength: 100,
  autoComplete: 'off',
}

/** Creates a group, or changes its name, budgets and alerts. @param of null creates a group */
export function GroupDialog(props: { of: GroupRecord | null; onClose: () => void; onSaved: () => void }) {
  const { of, onClose, onSaved } = props
  const post = usePostOnce()
  const save = async (draft: GroupDraft, was: GroupDraft) => {
    const { warnings } =
      of === null
        ? await post('/api/groups', fieldsIn(draft))
        : await api.patch(`/api/groups/${of.id}`, differing(fieldsIn(was), fieldsIn(draft)))
    notify(of === null ? `Created the group ${draft.name.trim()}.` : `Saved ${draft.name.trim()}.`)
    for (const warning of warnings) notify(warning, 'warn')
    onSaved()
    onClose()
  }
  return (
    <FormDialog<GroupDraft>
      title={of === null ? 'New group' : `Edit ${of.name}`}
      action={of === null ? 'Create group' : 'Save group'}
      initial={{ name: of?.name ?? '', budgets: budgetDrafts(of?.budgets ?? []), alerts: alertsText(of?.alerts ?? []) }}
      isReady={(draft, was) =>
        draft.name.trim() !== '' && Object.keys(differing(fieldsIn(was), fieldsIn(draft))).length > 0
      }
      onSubmit={save}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[NAME]} />
          <BudgetFields of={form.draft.budgets} at="budgets" {...form} />
          <FormFields {...form} fields={[ALERTS]} />
          <p class="hint">Calls count against these budgets and those of their key.</p>
        </>
      )}
    </FormDialog>
  )
}

/** Parses a draft into fields of the API, which validates them. */
const fieldsIn = ({ name, budgets, alerts }: GroupDraft) => ({
  name,
  budgets: budgetsIn(budgets),
  alerts: alertsIn(alerts),
})
