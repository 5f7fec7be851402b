import { useState } from 'preact/hooks'
import { api, PATIENT_MS } from '../api.ts'
import { queryOf } from '../router.ts'
import { Button } from './fields.tsx'
import { messageOf, notify } from './notes.tsx'

/** Time after which a saved file is let go, in milliseconds. */
const KEPT_MS = 60_000

/** Button that saves a list of the API as CSV. @param said notice after it */
export function CsvButton(props: {
  path: string
  file: string
  label: string
  said: string
  size?: 'small'
  disabled?: boolean
}) {
  const { path, file, label, said, size = 'normal', disabled = false } = props
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      const csv = await api.text(path, { accept: 'text/csv', timeoutMs: PATIENT_MS })
      const href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
      Object.assign(document.createElement('a'), { href, download: file }).click()
      setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
      notify(said)
    } catch (error) {
      notify(messageOf(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return <Button {...{ size, busy, disabled }} onClick={save} children={label} />
}

/** Button that saves the statement of this month. @param name of the key or group */
export function StatementButton({ of, name }: { of: { key: string } | { group: string }; name: string }) {
  const period = new Date().toISOString().slice(0, 7)
  const path = `/api/wallet/statements${queryOf({ ...of, period })}`
  const said = `Saved the statement of ${name} for ${period}.`
  return (
    <CsvButton size="small" file={`statement-${period}.csv`} label={`Statement of ${period}`} {...{ path, said }} />
  )
}
