import type { Environment } from '../config/environment.ts'
import { GazewayError } from '../errors.ts'
import { KEY_VARIABLES, PRESETS, presetOf } from '../providers/providers.ts'

/** Settings that a server of a person shares with the others, besides the keys. */
const SETTINGS = ['GAZEWAY_UPSTREAM', 'GAZEWAY_HOME', 'GAZEWAY_STORE']

/**
 * The variables that an entry hands on: those that were asked for, else the keys and settings that are set now. Where no key
 * is set, that of the provider is named all the same.
 *
 * @throws GazewayError `config_invalid` for what is no name of a variable; the value stays out of the message
 */
export function handedOn(chosen: readonly string[] | undefined, env: Environment): readonly string[] {
  if (chosen !== undefined) return [...new Set(chosen.map(checked))]
  const isSet = (name: string) => Boolean(env[name]?.trim())
  const keys = [...KEY_VARIABLES, 'GAZEWAY_UPSTREAM_API_KEY'].filter(isSet)
  const provider = presetOf(env.GAZEWAY_UPSTREAM?.trim() || PRESETS[0].name)
  const needed = keys.length > 0 ? keys : [provider?.key?.variable ?? []].flat()
  return [...needed, ...SETTINGS.filter(isSet)]
}

function checked(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  const fault = name.includes('=') ? 'a name alone; its value stays in your environment' : 'the name of a variable'
  throw new GazewayError('config_invalid', `--env: accepted: ${fault}, such as XAI_API_KEY.`, { param: '--env' })
}
