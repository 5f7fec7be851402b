import { getProperty, hasProperty } from 'dot-prop'
import type { Store } from '../store/store.ts'
import { CONFIG_KEYS, differingKeys } from './config-keys.ts'
import { updateDocument } from './file.ts'
import { layOver } from './layers.ts'
import { tableHome } from './table-home.ts'

/** What a file said of a key before another value came there. */
export interface Replaced {
  key: string
  /** JSON; null where it is a secret. */
  before: string | null
}

/**
 * The keys of the settings in a store, which machines on one PostgreSQL share or which came from there with its records;
 * apart, those that are none of this version.
 */
export async function settingsIn(store: Store): Promise<{ known: string[]; unknown: string[] }> {
  const unknown: string[] = []
  const settings = await read(store, (key) => unknown.push(key))
  return { known: CONFIG_KEYS.filter(({ key }) => settings.has(key)).map(({ key }) => key), unknown }
}

/**
 * Moves the settings in a store to a configuration file, where those of a service on SQLite are kept: all or none, as a
 * secret goes only where the address goes that it was given for. What the file says of the same keys is replaced, as they
 * were in force over it.
 *
 * @returns the keys that the file has other values of now, and which of them it had before
 * @throws GazewayError as `updateDocument`; file and store are then as they were
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
  // Here they would be out of date with the next change, and come into force with it on the way back to PostgreSQL.
  await store.db
    .deleteFrom('settings')
    .where('path', 'in', [...settings.keys()])
    .execute()
  return { taken, replaced }
}

const read = (store: Store, onRefused: (key: string) => void = () => {}) =>
  tableHome({ store, now: () => new Date(), onRefused }).read()
