import { GazewayError } from '../../errors.ts'
import type { Signer } from '../../signing/signer.ts'
import { lockFolder } from '../../store/sqlite/lock-folder.ts'
import type { Store } from '../../store/store.ts'
import type { ArchiveRow } from '../../store/tables/wallet-tables.ts'
import { boundsOf } from '../ledger/statement-period.ts'
import { listArchives } from './archives.ts'
import { pruneMonth } from './prune-month.ts'
import { archiveFile, checkArchive } from './read-archive.ts'
import { sealMonth } from './seal-month.ts'
import { unsettledIn } from './unsettled-months.ts'

/** Days after its end for which a month stays in the store: longer than any reward is locked, reply kept or record missing. */
const STAYS_DAYS = 31
const DAY_MS = 86_400_000

/** File whose lock a process holds that archives. */
const LOCK = 'archive.lock'

/** Result of a run. */
export interface Archived {
  folder: string
  /** Months that were sealed now. */
  sealed: ArchiveRow[]
  /** Rows deleted from the store now. */
  deleted: number
  /** First month that stays though it is before the bound, and why. Null for none. */
  stays: { month: string; reason: string } | null
}

/** Options of {@link archiveMonths}. */
export interface ArchiveOptions {
  /** The first month that stays in the store: `2026-01`. */
  before: string
  /** Folder of the archives; where the store has them already, or else this. */
  folder: string
  /** True where the folder was named, so that archives that are known elsewhere must have been moved there. */
  isNamed: boolean
  signer: Signer
  now: () => Date
  /** Called before each month. */
  onMonth?: (month: string) => void
}

/**
 * Seals the months before a bound, oldest first, each in a file, and deletes from the store what its file holds. Goes on where an
 * earlier run was interrupted.
 *
 * @throws GazewayError `validation_failed` for a bound that is too late, `conflict` while another process archives, and as
 *   `sealMonth` and `pruneMonth`
 */
export async function archiveMonths(store: Store, options: ArchiveOptions): Promise<Archived> {
  const { before, signer, now, onMonth = () => {} } = options
  requireOld(before, now())
  const folder = await folderOf(store, options)
  const lock = lockFolder(folder, LOCK, `Another process archives into ${folder}. Wait until it ends.`)
  try {
    const done: Archived = { folder, sealed: [], deleted: 0, stays: null }
    for (const row of await listArchives(store.db))
      if (row.pruned_at === null) done.deleted += await pruneMonth(store, row, now)
    for (;;) {
      const month = await nextMonth(store)
      if (month === null || month >= before) return done
      const reason = await unsettledIn(store, boundsOf(month))
      if (reason !== null) return { ...done, stays: { month, reason } }
      onMonth(month)
      const row = await sealMonth(store, { month, folder, signer, now })
      done.sealed.push(row)
      done.deleted += await pruneMonth(store, row, now)
    }
  } finally {
    lock.release()
  }
}

/** The first month that may not be archived yet. */
function latestBound(now: Date): string {
  return new Date(now.getTime() - STAYS_DAYS * DAY_MS).toISOString().slice(0, 7)
}

function requireOld(before: string, now: Date): void {
  boundsOf(before)
  const latest = latestBound(now)
  if (before.length === 7 && before <= latest) return
  throw new GazewayError(
    'validation_failed',
    `--before: a month stays in the store until ${STAYS_DAYS} days after its end; ${latest} is the latest bound today.`,
    { param: '--before' },
  )
}

/** The month after the last archive, or the first one with rows. Null when there is none. */
async function nextMonth({ db }: Store): Promise<string | null> {
  const last = (await listArchives(db)).at(-1)
  if (last) return last.ends_at.slice(0, 7)
  const firstOf = (table: 'ledger_transfers' | 'metered_calls') =>
    db
      .selectFrom(table)
      .select(({ fn }) => fn.min<string | null>('at').as('at'))
      .executeTakeFirstOrThrow()
  const first = [await firstOf('ledger_transfers'), await firstOf('metered_calls')].flatMap(({ at }) => at ?? [])
  return first.sort()[0]?.slice(0, 7) ?? null
}

/** All archives of a store are in one folder. Notes a new place of it, once all files are there as they were sealed. */
async function folderOf({ db }: Store, { folder, isNamed }: ArchiveOptions): Promise<string> {
  const known = await listArchives(db)
  const there = known[0]?.folder
  if (there === undefined || there === folder) return folder
  if (!isNamed) return there
  for (const { month, sha256 } of known) {
    const path = archiveFile(folder, month)
    const found = await checkArchive(path).catch((cause) => {
      throw new GazewayError(
        'conflict',
        `The archives of this store are in ${there}. To have them in ${folder}, move all files there first: ${path} is not there ` +
          'as it was sealed. Nothing was changed.',
        { cause },
      )
    })
    if (found.sha256 !== sha256)
      throw new GazewayError('conflict', `${path} is another file than was sealed. Nothing was changed.`)
  }
  await db.updateTable('archives').set({ folder }).execute()
  return folder
}
