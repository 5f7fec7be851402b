import { basename, dirname, join, resolve } from 'node:path'
import { hasProperty } from 'dot-prop'
import { configFile, type LoadedConfig, readDocument } from '../../src/config/config.ts'
import { CONFIG_KEYS } from '../../src/config/config-keys.ts'
import { settingsIn, takeOver } from '../../src/config/take-over.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Store } from '../../src/store/store.ts'

/** File name of a data folder's own store. */
const OWN_STORE = 'gazeway.db'

/**
 * Copies the settings to where a service on the target reads them. Machines on PostgreSQL share settings in the store;
 * those on SQLite read their config.json. Reports settings that were not copied on stderr.
 *
 * @param file path of a target on SQLite
 * @throws GazewayError when the config.json beside the target cannot be written
 */
export async function copySettings(loaded: LoadedConfig, source: Store, target: Store, file: string): Promise<void> {
  // Between stores of one engine, a service keeps reading settings from the same place.
  if (source.engine === target.engine) return
  if (target.engine === 'sqlite') await toFile(loaded, target, resolve(file))
  else await toTable(loaded, target)
}

async function toFile(loaded: LoadedConfig, target: Store, file: string): Promise<void> {
  const { known, unknown } = await settingsIn(target)
  const left = (keys: readonly string[]) => `${count(keys.length)} not copied: ${keys.join(', ')}.`
  if (unknown.length > 0) tell(`${left(unknown)} This version does not have these settings.`)
  if (known.length === 0) return
  const folder = dirname(file)
  if (basename(file) !== OWN_STORE && folder !== loaded.dataDir)
    return tell(
      `${left(known)} A service on SQLite reads settings from its config.json, not from the store. Copy to ${OWN_STORE} in ` +
        'the data folder of the service instead, or set them in its config.json.',
    )
  const config = configFile(folder)
  try {
    const { taken, replaced } = await takeOver(target, config)
    if (taken.length > 0) tell(`${count(taken.length)} copied into ${config}: ${taken.join(', ')}.`)
    const was = replaced.map(({ key, before }) => (before === null ? key : `${key} (was ${before})`))
    if (was.length > 0) tell(`Replaced other values: ${was.join(', ')}.`)
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    throw new GazewayError(
      error.code,
      `All records were copied, but ${left(known)} ${error.message} Set them in config.json before Gazeway runs there; ` +
        `or delete ${file} and copy again.`,
      { cause: error },
    )
  }
}

async function toTable({ dataDir }: LoadedConfig, target: Store): Promise<void> {
  const { known } = await settingsIn(target)
  if (known.length > 0)
    tell(`${count(known.length, 'is', 'are')} in force on every machine that uses this store: ${known.join(', ')}.`)
  const document = readDocument(configFile(dataDir))
  const own = CONFIG_KEYS.filter(({ key }) => key !== 'store.url' && hasProperty(document, key))
  if (own.length > 0)
    tell(
      `${count(own.length, 'stays', 'stay')} in ${join(dataDir, 'config.json')}, in force on this machine alone: ` +
        `${own.map(({ key }) => key).join(', ')}. Give the other machines a config.json that has them.`,
    )
}

const count = (number: number, one = 'was', many = 'were') =>
  number === 1 ? `1 setting ${one}` : `${number} settings ${many}`

const tell = (line: string) => void process.stderr.write(`${line}\n`)
