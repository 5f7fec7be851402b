import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { LoadedConfig } from '../../src/config/config.ts'
import { fromHome } from '../../src/config/environment.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { settingsIn } from '../../src/config/take-over.ts'
import { GazewayError } from '../../src/errors.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openForReading } from '../../src/store/existing-store.ts'
import { makeFolder, syncFolder } from '../../src/store/make-folder.ts'
import { openStore } from '../../src/store/open-store.ts'
import { renameInUse } from '../../src/store/rename-in-use.ts'
import { notWritten } from '../../src/store/replace-file.ts'
import { takeWholeFile, vacuumInto } from '../../src/store/sqlite/whole-file.ts'
import { backupName, checkSums, KEPT_FILES, STORE_FILE } from './backup-folder.ts'
import { proven, proveStore } from './prove-store.ts'

/** A backup to restore: its store, and the folder that it is in if `store backup` made it. */
interface Backup {
  file: string
  folder: string | null
}

/** Proves a backup without writing anything. Prints one line. @throws as {@link restore} for a backup that is not sound */
export async function checkBackup(path: string): Promise<void> {
  const { found } = await provenBackup(path)
  process.stdout.write(`${path}: ${found}.\n`)
}

/**
 * Proves a backup, and puts it in the place of the configured store. A store that is there is kept under another name.
 *
 * @throws GazewayError `conflict` while a process uses the store, or when a PostgreSQL store holds records;
 *   `store_corrupt` for a backup that is not sound; `store_full`. Nothing is changed then
 */
export async function restore(loaded: LoadedConfig, path: string): Promise<void> {
  const { backup, found } = await provenBackup(path)
  const { storeUrl, dataDir } = loaded
  const put = storeUrl.startsWith('sqlite:')
    ? await intoFile(backup.file, storeUrl.slice('sqlite:'.length))
    : await intoServer(backup.file, storeUrl)
  const files = backup.folder === null ? [] : await putFiles(backup.folder, dataDir)
  if (storeUrl.startsWith('sqlite:')) await tellSettings(backup.file)
  const also = files.length === 0 ? '' : ` Restored with it: ${files.join(', ')}.`
  process.stdout.write(`Restored ${path} to ${redactUrl(storeUrl)}: ${found}.${put}${also}\n`)
}

async function provenBackup(path: string): Promise<{ backup: Backup; found: string }> {
  const backup = await backupAt(resolve(fromHome(path)))
  const files = backup.folder === null ? 0 : await checkSums(backup.folder)
  const found = proven(await proveStore(backup.file))
  return { backup, found: backup.folder !== null ? `files as they were written: ${files}; ${found}` : found }
}

async function backupAt(path: string): Promise<Backup> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw new GazewayError('not_found', `There is no backup at ${path}.`)
  return found.isDirectory() ? { file: join(path, STORE_FILE), folder: path } : { file: path, folder: null }
}

/** Copies a backup beside a SQLite store, then takes its place. */
async function intoFile(backup: string, file: string): Promise<string> {
  const copy = `${file}.restoring`
  try {
    makeFolder(dirname(file))
    await rm(copy, { force: true })
    // So that a running service is noticed before a large file is copied.
    requireUnused(file)?.()
    await copyProven(backup, copy)
    await migrateCopy(copy)
    const release = requireUnused(file)
    const old = `${file}.before-${backupName(new Date()).slice('gazeway-'.length)}`
    await takePlace(copy, { file, old, release })
    await syncFolder(dirname(file))
    return release === null ? '' : ` The store that was there is ${old} now.`
  } catch (error) {
    await rm(copy, { force: true })
    throw error instanceof GazewayError ? error : notWritten(error, file)
  }
}

/** A place for a store, with the lock on the one that is there: null where there is none. */
interface StorePlace {
  file: string
  /** New name of the store that is there. */
  old: string
  release: (() => void) | null
}

/**
 * Moves a copy to the place of a store, and keeps that one under its new name. The store stays locked until both are done. Not
 * on Windows, which renames no open file: there the rename fails where another process opens the store in between.
 */
export async function takePlace(
  copy: string,
  { file, old, release }: StorePlace,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const freesFirst = platform === 'win32'
  const of = { platform, isClosedStore: true }
  if (freesFirst) release?.()
  try {
    if (release !== null) await renameInUse(() => rename(file, old), of)
    await renameInUse(() => rename(copy, file), of).catch(async (error) => {
      if (release !== null) await renameInUse(() => rename(old, file), of).catch(leftAt(old, file))
      throw error
    })
  } finally {
    if (!freesFirst) release?.()
  }
}

/** Says where the store that was there is, as it could not be moved back. */
const leftAt = (old: string, file: string) => (cause: unknown) => {
  const message = `${file} is missing: the store that was there is ${old} now, and could not be moved back. Rename it to ${file}.`
  throw new GazewayError('store_unavailable', message, { cause })
}

/** Copies a backup with what its log holds, which was proven with it. */
async function copyProven(backup: string, copy: string): Promise<void> {
  if (existsSync(`${backup}-wal`)) return vacuumInto(backup, copy)
  await copyFile(backup, copy, constants.COPYFILE_FICLONE)
  await chmod(copy, 0o600)
}

/** Takes a store that no process uses. Null when there is none. @throws GazewayError `conflict` */
function requireUnused(file: string): (() => void) | null {
  if (!existsSync(file)) {
    const log = [`${file}-wal`, `${file}-shm`].find((each) => existsSync(each))
    if (log === undefined) return null
    throw new GazewayError(
      'conflict',
      `${log} belongs to a store that is gone, and would damage the backup: move it away.`,
    )
  }
  const release = takeWholeFile(file)
  if (release !== null) return release
  throw new GazewayError(
    'conflict',
    `The store ${file} is in use. Stop all that uses it, assistants too, and restore then. Nothing was changed.`,
  )
}

/** Brings a copy of an earlier version's store up to date, and flushes it. */
async function migrateCopy(copy: string): Promise<void> {
  const { store, stepsBehind } = await openForReading(copy)
  await store.close()
  if (stepsBehind > 0) {
    const migrated = await openStore(`sqlite:${copy}`)
    try {
      await sql`pragma journal_mode = delete`.execute(migrated.db)
    } finally {
      await migrated.close()
    }
    await proveStore(copy)
  }
  const handle = await open(copy, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function intoServer(backup: string, url: string): Promise<string> {
  const { store, stepsBehind } = await openForReading(backup)
  try {
    if (stepsBehind > 0)
      throw new GazewayError(
        'conflict',
        `The backup was written by an earlier Gazeway and is ${stepsBehind} migrations behind. Restore it to sqlite:PATH first, ` +
          'which migrates it, and copy that with `gazeway store copy`.',
      )
    const target = await openStore(url)
    try {
      await copyStore(store, target)
    } finally {
      await target.close()
    }
    return ' Counts and sums agree.'
  } finally {
    await store.close()
  }
}

/** Tells which settings of a backup of PostgreSQL are not in force on SQLite. */
async function tellSettings(backup: string): Promise<void> {
  const { store } = await openForReading(backup)
  const { known } = await settingsIn(store).finally(store.close)
  if (known.length === 0) return
  process.stderr.write(
    `Not in force, since a service on SQLite reads its settings from config.json: ${known.join(', ')}. Set them there, or ` +
      'restore to PostgreSQL.\n',
  )
}

/** Puts the other files of a backup where the data folder has none. */
async function putFiles(folder: string, dataDir: string): Promise<string[]> {
  const missing = KEPT_FILES.filter((name) => existsSync(join(folder, name)) && !existsSync(join(dataDir, name)))
  if (missing.length > 0) makeFolder(dataDir)
  for (const name of missing) {
    await copyFile(join(folder, name), join(dataDir, name), constants.COPYFILE_EXCL)
    await chmod(join(dataDir, name), 0o600)
  }
  return missing
}
