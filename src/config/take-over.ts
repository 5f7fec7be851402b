import { getProperty, hasProperty } from 'dot-prop'
import type { Store } from '../store/store.ts'
import { CONFIG_KEYS, differingKeys } from './config-keys.ts'
import { updateDocument } from './file.ts'
import { layOver } from './layers.ts'
import { tableHome } from './table-home.ts'

/** A value in a file that a setting of the store replaced. */
export interface Replaced {
  key: string
  /** JSON. Null for a secret. */
  before: string | null
}

/**
 * Keys of the settings in a store, left by machines on one PostgreSQL or copied from there with its records. Keys that
 * this version does not know are listed separately.
 */
export async function settingsIn(store: Store): Promise<{ known: string[]; unknown: string[] }> {
  const unknown: string[] = []
  const settings = await read(store, (key) => unknown.push(key))
  return { known: CONFIG_KEYS.filter(({ key }) => settings.has(key)).map(({ key }) => key), unknown }
}

/**
 * Moves the settings in a store to the configuration file of a service on SQLite. All or none, since a secret may only
 * go together with its address. They replace the file's values of the same keys, which they had overridden before.
 *
 * @returns the keys whose values changed in the file, and those of them that it had before
 * @throws GazewayError as `updateDocument`; file and store are then unchanged
 */
export async function takeOver(store: Store, file: string): Promise<{ taken: string[]; replaced: Replaced[] }> {
  const settings = await read(store)
  let taken: string[] = []
  let replaced: Replaced[] = []
  await updateDocument(file, (document) => {
    const next = layOver(document, settings)
    const changed = differingKeys(document, next)
    taken = changed.map(({ key }) => key)
    replaced = changed
      .filter(({ key }) => hasProperty(document, key))
      .map(({ key, secret, secretFields }) => ({
        key,
        before: secret || secretFields.length > 0 ? null : JSON.stringify(getProperty(document, key)),
      }))
    return next
  })
  // If they stayed in the store, they would become outdated, and would apply again on a return to PostgreSQL.
  await store.db
    .deleteFrom('settings')
    .where('path', 'in', [...settings.keys()])
    .execute()
  return { taken, replaced }
}

const read = (store: Store, onRefused: (key: string) => void = () => {}) =>
  tableHome({ store, now: () => new Date(), onRefused }).read()
