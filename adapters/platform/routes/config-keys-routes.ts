import { getProperty } from 'dot-prop'
import * as z from 'zod'
import { CONFIG_KEYS, DEFAULTS, schemaOf } from '../../../src/config/config-keys.ts'
import { accepts } from '../../../src/text/schema-in-words.ts'
import { defineRoute, type Route } from '../define-route.ts'

const KeyOfConfig = z.object({
  key: z.string().describe('Dotted path, such as http.port'),
  description: z.string(),
  accepts: z.string().describe('Accepted values in words'),
  schema: z.record(z.string(), z.unknown()).describe('Accepted values as JSON Schema'),
  default: z.unknown(),
  has_entries: z.boolean().describe('Contains named entries that can be set individually'),
  secret: z.boolean().describe('Shown as "***" when set'),
  restart: z.boolean().describe('A change needs a restart'),
  environment_only: z.boolean().describe('Read from the environment only'),
})
export type KeyOfConfig = z.infer<typeof KeyOfConfig>

/** The settings of this version, described on the first request: that takes a tenth of a start. */
let known: KeyOfConfig[] | undefined

/** Routes that describe all settings, for forms. */
export function configKeyRoutes(): Route[] {
  return [
    defineRoute('GET /api/config/keys', {
      operation: 'listConfigKeys',
      summary: 'List all configuration keys with their purpose, accepted values and default',
      access: 'platform',
      reply: z.object({ items: z.array(KeyOfConfig), total: z.int() }),
      async run() {
        known ??= describeKeys()
        return { items: known, total: known.length }
      },
    }),
  ]
}

const describeKeys = (): KeyOfConfig[] =>
  CONFIG_KEYS.map(({ key, hasEntries, secret, restart, environmentOnly }) => ({
    key,
    description: schemaOf(key).description ?? '',
    accepts: accepts(schemaOf(key)),
    schema: z.toJSONSchema(schemaOf(key), { io: 'input', unrepresentable: 'any' }),
    default: getProperty(DEFAULTS, key),
    has_entries: hasEntries,
    secret: secret === 'value',
    restart,
    environment_only: environmentOnly,
  }))
