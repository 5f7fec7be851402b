import { GazewayError } from '../errors.ts'

/** Sources of credentials for a cloud. `auto` takes the first that has some, in this order. */
export const CREDENTIAL_SOURCES = ['auto', 'key', 'environment', 'file', 'machine'] as const
export type CredentialSource = (typeof CREDENTIAL_SOURCES)[number]

/** Settings of an upstream in a cloud, as in `upstreams.NAME.cloud`. None is a secret. */
export interface CloudSettings {
  /** Azure: the resource, by its name or its endpoint. */
  resource: string | null
  /** Azure: version of the API with deployments in its paths. Null for the paths below `/openai/v1`. */
  api_version: string | null
  /** Model id → its deployment, inference profile or version there. */
  deployments: Readonly<Record<string, string>>
  /** Bedrock: region. Vertex: location. */
  region: string | null
  /** Vertex: project. */
  project: string | null
  credentials: CredentialSource
  /** Bedrock: profile of the shared credentials file. */
  profile: string | null
  /** Azure: directory and application of a service principal; the application also names a managed identity. */
  tenant_id: string | null
  client_id: string | null
  /** File with the credentials. Azure: the client secret. Vertex: the JSON of an account. */
  credentials_file: string | null
}

export const NO_CLOUD_SETTINGS: CloudSettings = {
  resource: null,
  api_version: null,
  deployments: {},
  region: null,
  project: null,
  credentials: 'auto',
  profile: null,
  tenant_id: null,
  client_id: null,
  credentials_file: null,
}

/** Settings that the environment may give. */
type Named = Exclude<keyof CloudSettings, 'deployments' | 'credentials'>

/** Facts about a cloud: how its upstreams are addressed. */
export interface PresetCloud {
  kind: 'azure' | 'bedrock' | 'vertex'
  /** The cloud's own environment variables for settings, in their precedence. */
  variables: Readonly<Partial<Record<Named, readonly string[]>>>
  /** Settings without which there is no address. */
  needs: readonly Named[]
  /** Base URL. Needs the settings in `needs`. */
  address(settings: CloudSettings): string
  /** Hosts that get the credentials of this machine. */
  hosts: RegExp
  /** True for settings with which the cloud charges its regional price. */
  isRegional?(settings: CloudSettings): boolean
}

/** Names of the settings that an upstream in a cloud lacks. */
export const lackingSettings = ({ needs }: PresetCloud, settings: CloudSettings): Named[] =>
  needs.filter((name) => settings[name] === null)

/** Form of settings that make up an address, and how it is told. */
const FORMS: Readonly<Partial<Record<Named, { pattern: RegExp; accepted: string }>>> = {
  resource: {
    pattern: /^(?:[A-Za-z0-9][A-Za-z0-9-]{1,63}|https?:\/\/[\w.-]+(?::\d+)?(?:\/openai(?:\/v1)?)?\/?)$/,
    accepted: 'a name such as my-resource, or its endpoint such as https://my-resource.openai.azure.com',
  },
  region: { pattern: /^[a-z0-9-]{2,40}$/, accepted: 'a region such as us-east-1' },
  project: { pattern: /^[\w.:-]{1,128}$/, accepted: 'a project such as my-project' },
}

function wellFormed(name: Named, variable: string, value: string): string {
  const form = FORMS[name]
  if (form === undefined || form.pattern.test(value)) return value
  throw new GazewayError('config_invalid', `${variable}: invalid format; must be ${form.accepted}.`, {
    param: variable,
  })
}

/**
 * Settings of a cloud, with those of its own environment variables where there are none.
 *
 * @throws GazewayError `config_invalid` for a variable whose value makes no address
 */
export function cloudSettings<Settings extends CloudSettings>(
  { variables }: PresetCloud,
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const given = (Object.entries(variables) as [Named, readonly string[]][]).flatMap(([name, names]) => {
    const variable = names.find((one) => env[one]?.trim())
    if (settings[name] !== null || variable === undefined) return []
    return [[name, wellFormed(name, variable, env[variable]?.trim() ?? '')] as const]
  })
  return given.length === 0 ? settings : { ...settings, ...Object.fromEntries(given) }
}
