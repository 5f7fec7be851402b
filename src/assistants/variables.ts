import type { Environment } from '../config/environment.ts'
import { GazewayError } from '../errors.ts'
import { KEY_VARIABLES, PRESETS, presetOf } from '../providers/providers.ts'

/** Settings, beside keys, that a person's server passes on. */
const SETTINGS = ['GAZEWAY_UPSTREAM', 'GAZEWAY_HOME', 'GAZEWAY_STORE']

/**
 * Selects the variables that an entry passes on: those given, otherwise the keys and settings that are set. Without
 * any key, the provider's key is listed anyway.
 *
 * @throws GazewayError `config_invalid` for an invalid variable name; the message does not contain the value
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
  throw new GazewayError('config_invalid', `--env: invalid name; must be ${fault}, such as XAI_API_KEY.`, {
    param: '--env',
  })
}
