import { CONFIG_KEYS, schemaOf } from '../../src/config/config-keys.ts'
import { KEPT, KEPT_BY } from '../../src/store/table-retention.ts'
import { code, table } from './table.ts'

/** Settings that prune, what each prunes, and its tables; then the tables that no setting prunes, as Markdown. */
export function retentionReference(): string {
  const tables = Object.entries(KEPT)
  const of = (why: string) => tables.flatMap(([name, kept]) => (kept === why ? [code(name)] : [])).join(', ')
  const settings = CONFIG_KEYS.map(({ key }) => key).filter((key) => key.endsWith('_days'))
  const pruned = settings.map((key) => [code(key), schemaOf(key).description ?? '', of(key)])
  const others = Object.entries(KEPT_BY).map(([why, text]) => [text, of(why)])
  return `${table(['setting', 'what it is', 'tables'], pruned)}\n\n${table(['without a setting', 'tables'], others)}`
}
