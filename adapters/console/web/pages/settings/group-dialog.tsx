import { useState } from 'preact/hooks'
import type { GroupRecord } from '../../../../../src/identity/group.ts'
import { api } from '../../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { alertsIn, alertsText } from './alert-draft.ts'
import { AlertsField } from './alerts-field.tsx'
import { budgetDrafts, budgetsIn } from './budget-draft.ts'
import { BudgetFields } from './budget-fields.tsx'

/** Accepted values that may be mistakes. */
interface Warned {
  warnings: string[]
}

/** Creates a group, or changes its name, budgets and alerts. @param of null creates a group */
export function GroupDialog(props: { of: GroupRecord | null; onClose: () => void; onSaved: () => void }) {
  const { of, onClose, onSaved } = props
  const post = usePostOnce()
  const [was] = useState(() => ({
    name: of?.name ?? '',
    budgets: budgetDrafts(of?.budgets ?? []),
    alerts: alertsText(of?.alerts ?? []),
  }))
  const [name, setName] = useState(was.name)
  const [drafts, setDrafts] = useState<typeof was.budgets>(was.budgets)
  const [typedAlerts, setAlerts] = useState(was.alerts)
  const budgets = budgetsIn(drafts)
  const alerts = alertsIn(typedAlerts)
  // Unchanged fields are not sent, because somebody else may have changed them meanwhile.
  const changes = {
    ...(name !== was.name && { name }),
    ...(JSON.stringify(budgets) !== JSON.stringify(budgetsIn(was.budgets)) && { budgets }),
    ...(JSON.stringify(alerts) !== JSON.stringify(alertsIn(was.alerts)) && { alerts }),
  }

  const save = async () => {
    const { warnings } =
      of === null
        ? await post<Warned>('/api/groups', { name, budgets, alerts })
        : await api.patch<Warned>(`/api/groups/${of.id}`, changes)
    notify(of === null ? `Created the group ${name.trim()}.` : `Saved ${name.trim()}.`)
    for (const warning of warnings) notify(warning, 'warn')
    onSaved()
    onClose()
  }
  return (
    <Dialog title={of === null ? 'New group' : `Edit ${of.name}`} open onClose={onClose}>
      <SubmitForm
        action={of === null ? 'Create group' : 'Save group'}
        disabled={name.trim() === '' || Object.keys(changes).length === 0}
        onSubmit={save}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <Field label="Name" error={faultOf('name')} hint="Must be unique.">
              <TextInput value={name} onInput={setName} required maxLength={100} autoComplete="off" />
            </Field>
            <BudgetFields of={drafts} at="budgets" faultOf={faultOf} onEdit={(edited) => setDrafts([...edited])} />
            <AlertsField of={typedAlerts} faultOf={faultOf} onEdit={setAlerts} />
            <p class="hint">Calls count against these budgets and those of their key.</p>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
