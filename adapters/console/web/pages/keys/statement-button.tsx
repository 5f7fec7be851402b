import { api, PATIENT_MS } from '../../api.ts'
import { Button, messageOf, notify } from '../../components/components.ts'
import { queryOf } from '../../router.ts'
import { saveAs } from '../../save-as.ts'

/** Button that saves the statement of this month as CSV. @param name of the key or group */
export function StatementButton({ of, name }: { of: { key: string } | { group: string }; name: string }) {
  const period = new Date().toISOString().slice(0, 7)
  const save = async () => {
    try {
      const path = `/api/wallet/statements${queryOf({ ...of, period })}`
      const csv = await api.text(path, { accept: 'text/csv', timeoutMs: PATIENT_MS })
      saveAs(`statement-${period}.csv`, new Blob([csv], { type: 'text/csv' }))
      notify(`Saved the statement of ${name} for ${period}.`)
    } catch (error) {
      notify(messageOf(error), 'bad')
    }
  }
  return (
    <Button size="small" onClick={save}>
      Statement of {period}
    </Button>
  )
}
