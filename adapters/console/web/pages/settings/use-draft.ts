import { useState } from 'preact/hooks'
import type { KeyOfConfig } from '../../../../platform/routes/config-keys-routes.ts'
import type { ConfigShown } from '../../../../platform/routes/config-routes.ts'
import { ApiError, api } from '../../api.ts'
import { useAction } from '../../components/forms.ts'
import { changesOf, readValue, textOf, valueAt } from '../../schema/schema.ts'
import type { Fault } from '../../schema/schema-field.tsx'
import { tell } from './saved-notice.ts'

/** Edited value of a setting, and the value that it had when its editing began. */
interface Edited {
  before: unknown
  value: unknown
}

/** Edited settings. @param config settings in force */
export function useDraft(settings: readonly KeyOfConfig[], config: ConfigShown['config'], onSaved: () => void) {
  const [draft, setDraft] = useState<Readonly<Record<string, Edited>>>({})
  const [fault, setFault] = useState<Fault | null>(null)
  const { busy, error, setError, run } = useAction()

  const edit = (key: string, value: unknown) => {
    const { [key]: old, ...others } = draft
    const before = old ? old.before : valueAt(config, key)
    const isSame = value === textOf(before) || JSON.stringify(value) === JSON.stringify(before)
    setDraft(isSame ? others : { ...others, [key]: { before, value } })
    setFault(null)
  }
  const discard = () => {
    setDraft({})
    setFault(null)
    setError(null)
  }
  const save = async () => {
    setFault(null)
    const edited = settings.filter(({ key }) => key in draft)
    try {
      const changes = edited.map((setting) => valuesOf(setting, draft[setting.key] as Edited))
      const changed = await api.post('/api/config', withPlaces(Object.assign({}, ...changes), config))
      setDraft({})
      onSaved()
      tell(changed)
    } catch (error) {
      const own = error instanceof ApiError && edited.length === 1 ? (edited[0]?.key ?? null) : null
      const at = error instanceof ApiError ? (error.param ?? own) : null
      const isBeside = at !== null && edited.some(({ key }) => at === key || at.startsWith(`${key}.`))
      if (!isBeside && own === null) throw error
      setFault({ param: isBeside ? at : own, message: (error as ApiError).message })
    }
  }
  return { draft, fault, busy, error, edit, save: () => run(save), discard }
}

/** Changes of one setting, with entries and fields that are the same omitted. */
function valuesOf({ key, schema }: KeyOfConfig, { before, value }: Edited): Record<string, unknown> {
  const after = readValue(value, schema, key)
  return after === null ? { [key]: null } : changesOf(key, schema, readValue(before, schema, key), after)
}

/** A key belongs to the provider that is shown beside it, even if another one is stored by now. */
function withPlaces(changes: Record<string, unknown>, { upstream }: ConfigShown['config']): Record<string, unknown> {
  const isAlone = Boolean(changes['upstream.api_key']) && !('upstream.provider' in changes)
  return isAlone ? { 'upstream.provider': (upstream as { provider: string }).provider, ...changes } : changes
}
