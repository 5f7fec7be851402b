import { getProperty } from 'dot-prop'
import { CONFIG_KEYS, type ConfigKey, DEFAULTS, schemaOf } from '../../src/config/config-keys.ts'
import { KEY_VARIABLES } from '../../src/providers/providers.ts'
import { accepts } from '../../src/text/schema-in-words.ts'
import { code, table } from './table.ts'

/** Every configuration key by section, as Markdown. */
export function configurationReference(): string {
  const sections = new Set(CONFIG_KEYS.map(({ key }) => sectionOf(key)))
  return [...sections]
    .map((section) => {
      const keys = CONFIG_KEYS.filter(({ key }) => sectionOf(key) === section)
      const rows = keys.map((key) => row(key))
      return `### ${section}\n\n${table(HEAD, rows)}`
    })
    .join('\n\n')
}

const SECRECY = { value: 'Secret: never shown.', url: 'May hold a password, which is never shown.' }
const HEAD = ['key', 'default', 'accepts', 'what it is for', 'variable']

const sectionOf = (key: string) => key.split('.')[0] ?? key

function row({ key, variable, secret, secretFields, hasEntries, restart }: ConfigKey): string[] {
  const variables = [variable ?? [], key === 'upstream.api_key' ? KEY_VARIABLES : []].flat()
  const notes = [
    schemaOf(key).description ?? '',
    ...(hasEntries ? [`Entries can be set one by one, as ${code(`${key}.NAME`)}.`] : []),
    ...(secret === null ? [] : [SECRECY[secret]]),
    ...(secretFields.length > 0
      ? [`Of each entry ${secretFields.map(code).join(' and ')} are secret: never shown.`]
      : []),
    ...(restart ? ['A change waits for a restart.'] : []),
  ]
  return [
    code(key),
    shown(getProperty(DEFAULTS, key)),
    accepts(schemaOf(key)),
    notes.join(' '),
    variables.map(code).join(' or '),
  ]
}

function shown(value: unknown): string {
  if (value === null) return 'unset'
  return Array.isArray(value) && value.length > 0 ? value.map(code).join(' ') : code(value)
}
