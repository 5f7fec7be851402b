import type { ConfigChanged } from '../../../../platform/routes/config-routes.ts'
import { notify } from '../../components/content.ts'

/** Shows a notice: saved, overridden by a variable or flag, or waiting for a restart. */
export function tell({
  changed,
  restart_required,
  overridden,
}: Pick<ConfigChanged, 'changed' | 'restart_required' | 'overridden'>) {
  const waiting = restart_required.filter((key) => changed.some((one) => one === key || one.startsWith(`${key}.`)))
  if (overridden.length > 0)
    notify(`Saved, but a variable or flag takes precedence over ${overridden.join(', ')}.`, 'warn')
  else if (waiting.length > 0) notify(`Saved. Restart to apply ${waiting.join(', ')}.`, 'warn')
  else notify(changed.length === 0 ? 'No changes.' : 'Saved and applied.')
}
