import { presetOf } from '../providers/providers.ts'

/** What to do where the upstream's key is missing; null where it has one, or needs none. */
export function missingKey({ provider, api_key }: { provider: string; api_key: string | null }): string | null {
  const variable = presetOf(provider)?.key?.variable
  if (api_key || !variable) return null
  return (
    `No key is set for the upstream ${provider}. Either set ${variable} (or GAZEWAY_UPSTREAM_API_KEY), ` +
    'or start gazeway with --upstream sandbox to try everything without a key.'
  )
}
