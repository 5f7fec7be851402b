import type { Command } from 'commander'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import { checked } from './checked.ts'

const EXAMPLES = `
Examples:
  $ gazeway store backup --to /backup/gazeway --keep 14    back up while services run; for cron
  $ gazeway store restore /backup/gazeway/gazeway-20261127T031500000Z --check
  $ gazeway store copy --to postgres://HOST/DATABASE       move to PostgreSQL`

/** Number of backups to keep. */
const Keep = z.coerce.number().int().min(1).max(1000)

/** Adds `gazeway store` with its commands. */
export function addStoreCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const store = program
    .command('store')
    .description('back up, restore and copy the store')
    .addHelpText('after', EXAMPLES)
  store
    .command('copy')
    .description('copy all records to an empty SQLite or PostgreSQL store, then verify counts and sums')
    .requiredOption('--to <url>', 'target store: sqlite:PATH or postgres://HOST/DATABASE')
    .action(async ({ to }: { to: string }) => {
      const { loaded } = await start()
      await (await import('./store-copy.ts')).copyTo(loaded, to)
    })
  store
    .command('backup')
    .description('back up the store while services run, prove the backup, and remove the oldest ones')
    .option('--to <folder>', 'folder of the backups (default: backups in the data folder)')
    .option('--keep <number>', 'number of backups to keep, 1 to 1000', '7')
    .action(async ({ to, keep }: { to?: string; keep: string }) => {
      const count = checked('--keep', Keep, keep)
      const { loaded } = await start()
      await (await import('./store-backup.ts')).backUp(loaded, { ...(to !== undefined && { to }), keep: count })
    })
  store
    .command('restore')
    .description('prove a backup and put it in the place of the store, which nothing may use meanwhile')
    .argument('<backup>', 'folder that store backup made, or a SQLite file')
    .option('--check', 'prove the backup only; write nothing')
    .action(async (backup: string, { check = false }: { check?: boolean }) => {
      const restoring = await import('./store-restore.ts')
      if (check) return restoring.checkBackup(backup)
      await restoring.restore((await start()).loaded, backup)
    })
}
