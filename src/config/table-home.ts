import { getProperty } from 'dot-prop'
import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { configKey, differingKeys, schemaOf } from './config-keys.ts'
import type { ConfigHome } from './home.ts'
import { layOver } from './layers.ts'

/**
 * Stores configuration changes in the database, over each machine's own config.json. A key reset to its default keeps a
 * row, so that the default applies on every machine.
 *
 * @param onRefused called with the key of a row that this version does not know; it is ignored
 */
export function tableHome(deps: { store: Store; now: () => Date; onRefused: (key: string) => void }): ConfigHome {
  const { store, now, onRefused } = deps

  async function settingsIn(db: Store['db'] | Transaction<Schema>): Promise<Map<string, unknown>> {
    const rows = await db.selectFrom('settings').select(['path', 'value']).execute()
    return new Map(
      rows.flatMap(({ path, value }) => {
        const known = configKey(path)
        const setting: unknown = JSON.parse(value)
        if (known && !known.environmentOnly && (setting === null || schemaOf(path).safeParse(setting).success))
          return [[path, setting] as const]
        onRefused(path)
        return []
      }),
    )
  }

  return {
    async revision() {
      const row = await store.db.selectFrom('settings_revision').select('revision').executeTakeFirst()
      return String(row?.revision)
    },
    read: () => settingsIn(store.db),
    async change(document, change) {
      await store.write(async (trx) => {
        // First, so that changes run one after the other.
        await trx.updateTable('settings_revision').set({ revision: sql`revision + 1` }).execute()
        const before = layOver(document, await settingsIn(trx))
        const next = change(before)
        const rows = differingKeys(before, next).map(({ key }) => {
          const value: unknown = getProperty(next, key)
          return { path: key, value: JSON.stringify(value ?? null), updated_at: now().toISOString() }
        })
        if (rows.length === 0) return
        if (rows.some(({ path }) => path === 'store.url')) throw notHere()
        await trx
          .insertInto('settings')
          .values(rows)
          .onConflict((conflict) =>
            conflict.column('path').doUpdateSet(({ ref }) => ({
              value: ref('excluded.value'),
              updated_at: ref('excluded.updated_at'),
            })),
          )
          .execute()
      })
    },
  }
}

/** Error for changing the store's address: it cannot be stored in the store itself. */
function notHere(): GazewayError {
  return new GazewayError(
    'conflict',
    'store.url: nothing was changed, because the settings live in the store itself. Name it with GAZEWAY_STORE, --store ' +
      'or in the config.json of each machine.',
    { param: 'store.url' },
  )
}
