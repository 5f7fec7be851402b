import { closest } from 'fastest-levenshtein'
import { CONFIG_KEYS } from './config-keys.ts'

/** Settings by what other programs call them. */
const CALLED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'upstream.base_url': 'upstream.provider',
    'upstream.baseUrl': 'upstream.provider',
    'upstream.api_base': 'upstream.provider',
    'upstream.endpoint': 'upstream.provider',
    'upstream.url': 'upstream.provider',
    'upstream.model': 'upstream.models.primary',
    'http.timeout_ms': 'upstream.timeout_ms',
  }),
)

/** All settings, and their sections. */
const KNOWN = [
  ...new Set(CONFIG_KEYS.flatMap(({ key }) => key.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.')))),
]

/** Setting or section that an unknown key is nearest to: by its meaning where that is known, else by its letters. */
export function nearestKey(unknown: string): string {
  const [section = '', name = ''] = unknown.split('.')
  const fields = CONFIG_KEYS.flatMap(({ key, entryFields }) =>
    key === section ? entryFields.map((field) => `${key}.${name}.${field}`) : [],
  )
  return CALLED.get(unknown) ?? closest(unknown, [...KNOWN, ...fields])
}
