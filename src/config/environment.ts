import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { presetOf } from '../providers/providers.ts'
import { explain } from '../wire/validation.ts'
import { CONFIG_KEYS, type ConfigKey, configKey } from './config-keys.ts'

/** Environment variable → the configuration key that it sets. */
export const VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  CONFIG_KEYS.flatMap(({ key, variable }) => (variable === null ? [] : [[variable, key]])),
)

/** The variable that sets a configuration key. */
export const variableOf = (key: string): string | undefined => configKey(key)?.variable ?? undefined

/** Command-line flags as commander names them (`--platform-port` is `platformPort`): those of the keys, and `data`. */
export type ConfigFlags = Readonly<Record<string, unknown>> & { data?: string | undefined }

/** A process environment: `process.env`, or a part of it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Configuration key → the value that flags or the environment set it to, already checked. */
export type Overrides = ReadonlyMap<string, unknown>

const CONTAINER_ADDRESS = /^(?:tcp|udp|sctp):\/\//

/**
 * Whether a variable is what Kubernetes and Docker links set for a service that is called gazeway, or gazeway-…:
 * `GAZEWAY_PORT` is then where that service is, and no setting.
 */
export const isOfContainer = (name: string, value: string): boolean =>
  /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(name) ||
  (name.endsWith('_PORT') && CONTAINER_ADDRESS.test(value))

/** A reference to a variable that an assistant handed on as it stands in its file: some do where the variable is not set. */
const REFERENCE = /^(?:\$\{[^{}]*\}|\{env:\w+\})$/

/** The value of a variable; undefined for one that is empty, or a reference that was not filled in. */
function given(env: Environment, variable: string): string | undefined {
  const text = env[variable]?.trim()
  return !text || REFERENCE.test(text) ? undefined : text
}

/**
 * What the environment sets. An empty variable is one that is not set, and so are a reference that nobody filled in and a
 * port that is a container's address.
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
 * What the flags set.
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
 * The provider's own key, from its own variable, read when `GAZEWAY_UPSTREAM_API_KEY` is not set; undefined when there is none, or for a provider without one.
 *
 * @throws GazewayError `config_invalid` with the variable in `param`
 */
export function readProviderKey(env: Environment, provider: string): unknown {
  const variable = presetOf(provider)?.key?.variable
  const text = variable && given(env, variable)
  return variable && text ? parseText('upstream.api_key', text, variable) : undefined
}

/**
 * The data folder, absolute: `--data`, else `GAZEWAY_HOME`, else the platform's own place for `gazeway`.
 *
 * @throws GazewayError `config_invalid` when the user has no home folder to put it in
 */
export async function findDataDir(flags: ConfigFlags, env: Environment, cwd: string): Promise<string> {
  if (flags.data === '') throw invalid('--data', '--data: empty; accepted: a folder.')
  const folder = flags.data ?? given(env, 'GAZEWAY_HOME')
  // One that is empty or relative counts as not set (XDG base directory specification); Node and env-paths would start
  // from the working directory.
  for (const name of ['HOME', 'XDG_DATA_HOME']) if (!isAbsolute(process.env[name] ?? '')) delete process.env[name]
  try {
    if (folder) return resolve(cwd, fromHome(folder))
    // env-paths asks for the home folder as it is imported, which fails for a user that has none.
    const { default: envPaths } = await import('env-paths')
    return envPaths('gazeway', { suffix: '' }).data
  } catch (cause) {
    throw invalid(
      'GAZEWAY_HOME',
      'This user has no home folder; name the data folder with --data or GAZEWAY_HOME.',
      cause,
    )
  }
}

/** A path whose `~/` is the user's home folder: in an assistant's entry there is no shell that puts it in. */
export function fromHome(path: string): string {
  return path.replace(/^~(?=$|[\\/])/, () => homedir())
}

/** `--platform-port` → `platformPort`. */
const nameOfFlag = (flag: string): string =>
  flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

function parseText(key: string, text: string, name: string): unknown {
  const schema = configKey(key)?.schema
  if (!schema) throw new TypeError(`${name} sets ${key}, which is not a configuration key`)
  const asText = schema.safeParse(text)
  if (asText.success) return asText.data
  const value = valueIn(text, schema)
  const result = value === text ? asText : schema.safeParse(value)
  if (result.success) return result.data
  // Text cannot be null: what is to be unset is left out.
  throw invalid(name, explain(result.error, schema, value, name).message.replace(/,? or null\.$/, '.'))
}

/** The number, truth value or comma-separated list that a text spells; else the text. */
function valueIn(text: string, schema: ConfigKey['schema']): unknown {
  if (schema instanceof z.ZodDefault && schema.unwrap() instanceof z.ZodArray)
    return text.split(',').flatMap((item) => item.trim() || [])
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

function invalid(param: string, message: string, cause?: unknown): GazewayError {
  return new GazewayError('config_invalid', message, { param, cause })
}
