import type { Command } from 'commander'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import { checked } from './flag-value.ts'
import type { ArchiveFlags } from './store-archive.ts'

const EXAMPLES = `
Examples:
  $ gazeway store backup --to /backup/gazeway --keep 14    back up while services run; for cron
  $ gazeway store restore /backup/gazeway/gazeway-20261127T031500000Z --check
  $ gazeway store archive                                  seal months of more than a year ago in files; for cron
  $ gazeway store archive --before 2026-01 --to /archive/gazeway
  $ gazeway store copy --to postgres://HOST/DATABASE       move to PostgreSQL
  $ gazeway store migrate                                  before a rollout, instead of at its first start`

const ARCHIVE_HELP = `
Months are sealed oldest first, each in one file MONTH.jsonl.gz, 31 days after their end at the earliest, and are closed
for bookings. A month with something open (a reservation, a locked reward, a debt, a payment that is not final) stays, and
so do those after it. Statements, usage and receipts of archived months are read from the files, and \`gazeway doctor\`
proves them: keep the folder, and copy it as you copy backups, which do not include it. To have it elsewhere, move its files
and name the new place with --to. An interrupted run is continued by the next one.
Read one with:  zcat 2025-01.jsonl.gz | head`

/** Number of backups to keep. */
const Keep = z.coerce.number().int().min(1).max(1000)

/** Adds `gazeway store` with its commands. */
export function addStoreCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const store = program
    .command('store')
    .description('back up, restore, archive, copy and migrate the store')
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
  store
    .command('archive')
    .description(
      'seal old months of the ledger and of receipts in signed files, and delete from the store what they hold, while services run',
    )
    .option('--before <month>', 'first UTC month that stays, such as 2026-01 (default: the last 13 months stay)')
    .option('--to <folder>', 'folder of the archives (default: where they are, or archives in the data folder)')
    .option('--json', 'print what was done as JSON')
    .addHelpText('after', ARCHIVE_HELP)
    .action(async (flags: ArchiveFlags) => {
      const { loaded } = await start()
      await (await import('./store-archive.ts')).archive(loaded, flags)
    })
  store
    .command('migrate')
    .description('create the tables of this version, or migrate those of an earlier one, as each start does')
    .action(async () => {
      const { loaded } = await start()
      await (await import('./store-migrate.ts')).migrateStore(loaded)
    })
}
