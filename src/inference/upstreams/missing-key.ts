import { type CloudSettings, lackingSettings, NO_CLOUD_SETTINGS, type PresetCloud } from '../../providers/cloud.ts'
import { keyVariableOf } from '../../providers/key-variable.ts'
import { presetOf } from '../../providers/providers.ts'

/** Advice for an upstream without its key, or without the settings of its cloud. Null when it has one or needs none. */
export function missingKey({
  id,
  provider,
  base_url = null,
  api_key,
  cloud = NO_CLOUD_SETTINGS,
}: {
  id?: string
  provider: string
  base_url?: string | null
  api_key: string | null
  cloud?: CloudSettings
}): string | null {
  const preset = presetOf(provider)
  // The credentials of a cloud may be those of this machine, which are looked for when they are needed.
  if (preset?.cloud) return base_url === null ? missingSetting(preset.cloud, cloud, id) : null
  const variable = preset?.key?.variable
  // Another address may need no key.
  if (api_key || !variable || base_url !== null) return null
  if (id !== undefined)
    return `No key is set for the upstream ${id}. Set ${variable}, ${keyVariableOf(id)} or upstreams.${id}.api_keys.`
  return (
    `No key is set for the upstream ${provider}. Either set ${variable} (or GAZEWAY_UPSTREAM_API_KEY), ` +
    'or start gazeway with --upstream sandbox to try everything without a key.'
  )
}

/** Advice for an upstream in a cloud whose address is unknown. Null when it is known. */
function missingSetting(cloud: PresetCloud, settings: CloudSettings, id: string | undefined): string | null {
  const [name] = lackingSettings(cloud, settings)
  if (name === undefined) return null
  const section = id === undefined ? 'upstream' : `upstreams.${id}`
  const variable = cloud.variables[name]?.[0]
  return `The upstream ${id ?? cloud.kind} lacks its ${name}. Set ${section}.cloud.${name}${variable === undefined ? '' : `, or ${variable}`}.`
}
