import { closest } from 'fastest-levenshtein'
import { CONFIG_KEYS } from './config-keys.ts'

/** Settings by what other programs call them. */
const CALLED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'upstream.model': 'upstream.models.primary',
    'http.timeout_ms': 'upstream.timeout_ms',
  }),
)

/** Names of the address of a provider in other programs, and in `upstreams`. */
const ADDRESS = /^(?:(?:base|api)_?(?:url|base)|endpoint|url|host)$/i

/** All settings, and their sections. */
const KNOWN = [
  ...new Set(CONFIG_KEYS.flatMap(({ key }) => key.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.')))),
]

/** Setting or section that an unknown key is nearest to: by its meaning where that is known, else by its letters. */
export function nearestKey(unknown: string): string {
  const [section = '', name = '', field = ''] = unknown.split('.')
  if (section === 'upstream' && ADDRESS.test(name))
    return 'upstream.provider, which takes an address; beside the name of a provider it is upstreams.NAME.base_url'
  if (section === 'upstream' && fieldsIn('upstreams').includes(name)) return `upstreams.NAME.${name}`
  if (section === 'upstreams' && ADDRESS.test(field)) return `upstreams.${name}.base_url`
  const fields = fieldsIn(section).map((one) => `${section}.${name}.${one}`)
  return CALLED.get(unknown) ?? closest(unknown, [...KNOWN, ...fields])
}

/** Fields of the entries of a section. */
const fieldsIn = (section: string): readonly string[] =>
  CONFIG_KEYS.find(({ key }) => key === section)?.entryFields ?? []
