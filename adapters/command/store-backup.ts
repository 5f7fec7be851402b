import { constants, existsSync, mkdirSync } from 'node:fs'
import { chmod, copyFile, open, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { LoadedConfig } from '../../src/config/config.ts'
import { fromHome } from '../../src/config/environment.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { GazewayError } from '../../src/errors.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openForReading, requireUpToDate } from '../../src/store/existing-store.ts'
import { syncFolder } from '../../src/store/make-folder.ts'
import { openStore } from '../../src/store/open-store.ts'
import { renameInUse } from '../../src/store/rename-in-use.ts'
import { notWritten } from '../../src/store/replace-file.ts'
import { lockFolder } from '../../src/store/sqlite/lock-folder.ts'
import { vacuumInto } from '../../src/store/sqlite/whole-file.ts'
import {
  backupName,
  KEPT_FILES,
  listBackups,
  removeBackup,
  removePartial,
  STORE_FILE,
  SUMS_FILE,
  writeSums,
} from './backup-folder.ts'
import { proven, proveStore } from './prove-store.ts'
import { requireStore } from './require-store.ts'

/** File whose lock a running backup holds. */
const LOCK = 'backup.lock'

/**
 * Makes a backup of the configured store while services run, proves it, and removes the oldest ones. Prints one line.
 *
 * @param options.to folder of the backups; `backups` in the data folder by default
 * @param options.keep how many backups to keep, at least 1
 * @throws GazewayError `store_full` and others, naming how many earlier backups are unchanged
 */
export async function backUp(loaded: LoadedConfig, { to, keep }: { to?: string; keep: number }): Promise<void> {
  requireStore(loaded)
  await requireUpToDate(loaded.storeUrl)
  const folder = resolve(to === undefined ? join(loaded.dataDir, 'backups') : fromHome(to))
  const lock = lockFolder(folder, LOCK, `Another backup into ${folder} is running. Wait until it ends.`)
  try {
    await removePartial(folder)
    const before = await listBackups(folder)
    const name = backupName(new Date())
    const found = await makeBackup(loaded, join(folder, name)).catch((error) => {
      throw failed(error, folder, before.length)
    })
    const full = [...before, name].slice(0, -keep)
    const fuller = full.length === 0 ? null : await fullerThan(folder, name, before)
    const old = fuller === null ? full : []
    for (const each of old) await removeBackup(folder, each)
    const gone = old.length === 0 ? '' : `; removed ${old.join(', ')}`
    process.stdout.write(`Backed up ${redactUrl(loaded.storeUrl)} to ${join(folder, name)}: ${found}${gone}.\n`)
    if (fuller !== null)
      process.stderr.write(
        `No earlier backup was removed: ${fuller} has more transfers in its ledger than this store. If that is right, move it ` +
          'away; a folder is for the backups of one store.\n',
      )
  } finally {
    lock.release()
  }
}

/** Makes a backup beside its place, and moves it there once it is proven and flushed. */
async function makeBackup({ storeUrl, dataDir }: LoadedConfig, backup: string): Promise<string> {
  const partial = `${backup}.partial`
  mkdirSync(partial, { mode: 0o700 })
  try {
    const file = join(partial, STORE_FILE)
    if (storeUrl.startsWith('sqlite:')) vacuumInto(storeUrl.slice('sqlite:'.length), file)
    else await copyInto(storeUrl, file)
    const kept = KEPT_FILES.filter((name) => existsSync(join(dataDir, name)))
    for (const name of kept) await copyPrivate(join(dataDir, name), join(partial, name))
    const proof = await proveStore(file)
    const files = [STORE_FILE, ...kept]
    await writeSums(partial, files)
    for (const name of [...files, SUMS_FILE]) await flush(join(partial, name))
    await syncFolder(partial)
    await renameInUse(() => rename(partial, backup), { isClosedStore: true })
    await syncFolder(join(backup, '..'))
    return proven(proof)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/**
 * Finds an earlier backup with a longer ledger than a new one: a ledger only grows, so it is of another store, or this store
 * lost what it had, as one does that starts empty when its disk is not mounted.
 */
async function fullerThan(folder: string, name: string, before: readonly string[]): Promise<string | null> {
  const transfers = await transfersIn(join(folder, name))
  for (const each of before) if ((await transfersIn(join(folder, each)).catch(() => 0)) > transfers) return each
  return null
}

async function transfersIn(backup: string): Promise<number> {
  const { store } = await openForReading(join(backup, STORE_FILE))
  try {
    const { rows } = await sql<{ transfers: number }>`select coalesce(sum(transfers), 0) as transfers
      from ledger_accounts`.execute(store.db)
    return rows[0]?.transfers ?? 0
  } finally {
    await store.close()
  }
}

/** Copies a store on PostgreSQL into a file, in one moment. */
async function copyInto(url: string, file: string): Promise<void> {
  const source = await openStore(url)
  try {
    const target = await openStore(`sqlite:${file}`)
    try {
      await copyStore(source, target)
      // Nothing stays beside the file.
      await sql`pragma journal_mode = delete`.execute(target.db)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copyPrivate(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await chmod(to, 0o600)
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function failed(cause: unknown, folder: string, earlier: number): GazewayError {
  const known = cause instanceof GazewayError ? cause : notWritten(cause, folder)
  const left = earlier === 1 ? 'The earlier backup is' : `The ${earlier} earlier backups are`
  const advice = known.code === 'store_full' ? `The disk of ${folder} is full: free some space.` : known.message
  return new GazewayError(known.code, `No backup was made. ${advice} ${left} unchanged.`, { cause })
}
