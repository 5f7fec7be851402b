import type { LoadedConfig } from '../../src/config/config.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { migrationsBehind } from '../../src/store/existing-store.ts'
import { openStore } from '../../src/store/open-store.ts'

/**
 * Creates the tables of this version in the store, or migrates those of an earlier one, as each start does. Prints what
 * was done.
 *
 * @throws GazewayError as {@link migrationsBehind} and {@link openStore}
 */
export async function migrateStore({ storeUrl }: Pick<LoadedConfig, 'storeUrl'>): Promise<void> {
  const before = await migrationsBehind(storeUrl)
  await (await openStore(storeUrl)).close()
  const steps = before?.steps ?? 0
  const done = steps === 0 ? 'It has the tables of this version.' : `Migrations made: ${steps}.`
  process.stdout.write(`${redactUrl(storeUrl)}: ${done}\n`)
}
