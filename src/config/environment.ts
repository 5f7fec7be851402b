import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { presetOf } from '../providers/providers.ts'
import { explain } from '../wire/validation.ts'
import { CONFIG_KEYS, configKey, schemaOf } from './config-keys.ts'
import { platformFolder } from './platform-folder.ts'

/** Configuration key by environment variable. */
export const VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  CONFIG_KEYS.flatMap(({ key, variable }) => (variable === null ? [] : [[variable, key]])),
)

/** Environment variable of a configuration key. */
export const variableOf = (key: string): string | undefined => configKey(key)?.variable ?? undefined

/** Command-line flags as commander names them (`--platform-port` is `platformPort`): those of the keys, and `data`. */
export type ConfigFlags = Readonly<Record<string, unknown>> & { data?: string | undefined }

/** A process environment: `process.env`, or a part of it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Validated values from flags or the environment, by configuration key. */
export type Overrides = ReadonlyMap<string, unknown>

const CONTAINER_ADDRESS = /^(?:tcp|udp|sctp):\/\//

/**
 * Tells whether Kubernetes or a Docker link set a variable for a service named gazeway, or gazeway-…. `GAZEWAY_PORT` is
 * then the address of that service, not a setting.
 */
export const isOfContainer = (name: string, value: string): boolean =>
  /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(name) ||
  (name.endsWith('_PORT') && CONTAINER_ADDRESS.test(value))

/** A reference that an assistant passed on literally, as some do when the variable is not set. */
const REFERENCE = /^(?:\$\{[^{}]*\}|\{env:\w+\})$/

/** Value of a variable. Undefined when it is empty or an unexpanded reference. */
function given(env: Environment, variable: string): string | undefined {
  const text = env[variable]?.trim()
  return !text || REFERENCE.test(text) ? undefined : text
}

/**
 * Reads the overrides in the environment. Treated as unset are: an empty variable, an unexpanded reference, and a port
 * that is a container's address.
 *
 * @throws GazewayError `config_invalid` with the variable in `param`
 */
export function readEnvironment(env: Environment): Overrides {
  return new Map(
    Object.entries(VARIABLES).flatMap(([variable, key]) => {
      const text = given(env, variable)
      return text && !isOfContainer(variable, text) ? [[key, parseText(key, text, variable)] as const] : []
    }),
  )
}

/**
 * Reads the overrides in flags.
 *
 * @throws GazewayError `config_invalid` with the flag in `param`
 */
export function readFlags(flags: ConfigFlags): Overrides {
  return new Map(
    CONFIG_KEYS.flatMap(({ key, flag }) => {
      const value = flag === null ? undefined : flags[nameOfFlag(flag)]
      return flag === null || value === undefined ? [] : [[key, parseText(key, String(value).trim(), flag)] as const]
    }),
  )
}

/**
 * Reads the provider's own key variable, which `GAZEWAY_UPSTREAM_API_KEY` takes precedence over. Undefined when it is
 * unset, or for a provider without one.
 *
 * @throws GazewayError `config_invalid` with the variable in `param`
 */
export function readProviderKey(env: Environment, provider: string): unknown {
  const variable = presetOf(provider)?.key?.variable
  const text = variable && given(env, variable)
  return variable && text ? parseText('upstream.api_key', text, variable) : undefined
}

/**
 * Finds the data folder, absolute. Precedence: `--data`, `GAZEWAY_HOME`, the platform's default for `gazeway`.
 *
 * @throws GazewayError `config_invalid` when it would be in the user's home folder and there is none
 */
export function findDataDir(flags: ConfigFlags, env: Environment, cwd: string): string {
  if (flags.data === '') throw invalid('--data', '--data: empty; must be a folder.')
  const folder = flags.data ?? given(env, 'GAZEWAY_HOME')
  // An empty or relative value counts as unset. Node would resolve it against the working directory.
  if (!isAbsolute(process.env.HOME ?? '')) delete process.env.HOME
  try {
    return folder ? resolve(cwd, fromHome(folder)) : platformFolder()
  } catch (cause) {
    throw invalid(
      'GAZEWAY_HOME',
      'This user has no home folder. Name the data folder with --data or GAZEWAY_HOME.',
      cause,
    )
  }
}

/** Expands `~/` to the user's home folder. An assistant's entry has no shell to do it. */
export function fromHome(path: string): string {
  return path.replace(/^~(?=$|[\\/])/, () => homedir())
}

/** Name of a flag in commander: `--platform-port` → `platformPort`. */
const nameOfFlag = (flag: string): string =>
  flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

function parseText(key: string, text: string, name: string): unknown {
  const schema = schemaOf(key)
  const asText = schema.safeParse(text)
  if (asText.success) return asText.data
  const value = valueIn(text, schema)
  const result = value === text ? asText : schema.safeParse(value)
  if (result.success) return result.data
  // Text cannot be null: omit a variable to unset it.
  const { message } = explain(result.error, schema, value, { name })
  // The place in a list is not what was typed: name the flag or variable.
  throw invalid(name, message.replaceAll(/(?<=^|\. )\d+: /g, `${name}: `).replace(/,? or null\.$/, '.'))
}

/** Parses a text as number, boolean or comma-separated list, by the schema; otherwise the text itself. */
function valueIn(text: string, schema: z.ZodType): unknown {
  if (schema instanceof z.ZodDefault && schema.unwrap() instanceof z.ZodArray)
    return text.split(',').flatMap((item) => item.trim() || [])
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

function invalid(param: string, message: string, cause?: unknown): GazewayError {
  return new GazewayError('config_invalid', message, { param, cause })
}
