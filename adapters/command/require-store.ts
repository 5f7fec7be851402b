import { existsSync } from 'node:fs'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'

/**
 * Refuses a data folder without a store, for commands that find or change what is there. A mistyped `--data` would
 * otherwise create an empty store and look like one without records.
 *
 * @throws GazewayError `not_found`
 */
export function requireStore({ storeUrl }: Pick<LoadedConfig, 'storeUrl'>): void {
  const file = storeUrl.startsWith('sqlite:') ? storeUrl.slice('sqlite:'.length) : null
  if (file === null || existsSync(file)) return
  throw new GazewayError(
    'not_found',
    `There is no store at ${file}. Name the data folder that has it with --data or GAZEWAY_HOME. A new store is created ` +
      'by the first start of gazeway, or by: gazeway key create --name NAME',
  )
}
