import { keyVariableOf } from '../../providers/key-variable.ts'
import { presetOf } from '../../providers/providers.ts'

/** Advice for an upstream without its key. Null when it has one or needs none. */
export function missingKey({
  id,
  provider,
  base_url = null,
  api_key,
}: {
  id?: string
  provider: string
  base_url?: string | null
  api_key: string | null
}): string | null {
  const variable = presetOf(provider)?.key?.variable
  // Another address may need no key.
  if (api_key || !variable || base_url !== null) return null
  if (id !== undefined)
    return `No key is set for the upstream ${id}. Set ${variable}, ${keyVariableOf(id)} or upstreams.${id}.api_keys.`
  return (
    `No key is set for the upstream ${provider}. Either set ${variable} (or GAZEWAY_UPSTREAM_API_KEY), ` +
    'or start gazeway with --upstream sandbox to try everything without a key.'
  )
}
