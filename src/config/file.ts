import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { open, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import { lock } from 'proper-lockfile'
import { GazewayError } from '../errors.ts'
import { makeFolder, syncFolder } from '../store/make-folder.ts'
import type { ConfigDocument } from './config-schema.ts'
import { parseDocument, readText } from './document.ts'

/** How long a lock that nobody refreshes is respected: the holder was killed. */
const STALE_MS = 5_000
/** Together some 15 s, so that a waiter outlives a stale lock. */
const WAITS = { retries: 200, factor: 1.1, minTimeout: 5, maxTimeout: 50, randomize: true }
const LEFTOVER_MS = 60_000

/**
 * Changes the document in a configuration file, alone among all processes that use it: read, change, write durably.
 * A crash leaves the old document or the new one. The file and its folder are made where they are missing.
 *
 * @param change the new document from the present one; when it throws, nothing is written
 * @throws GazewayError `config_invalid` when the file is broken (it stays as it is), `conflict` when an editor saved it
 *   meanwhile, `store_unavailable` when it cannot be locked or written, `store_full` when the disk is full
 */
export async function updateDocument(
  file: string,
  change: (document: ConfigDocument) => ConfigDocument,
): Promise<ConfigDocument> {
  try {
    makeFolder(dirname(file))
    // Through a link, so that a configuration kept elsewhere stays a link.
    const target = readText(file) === null ? file : await realpath(file)
    return await locked(target, async () => {
      const db = new Low<ConfigDocument>(documentAdapter(target), {})
      await db.read()
      db.data = change(db.data)
      await db.write()
      return db.data
    })
  } catch (error) {
    throw error instanceof GazewayError ? error : fileError(error, file)
  }
}

/** lowdb's view of the file: reads with the checks of every start, writes durably and only over what it has read. */
function documentAdapter(file: string): Adapter<ConfigDocument> {
  let seen: string | null = null
  return {
    async read() {
      seen = readText(file)
      return seen === null ? null : parseDocument(seen, file)
    },
    async write(document) {
      await replaceFile(file, `${JSON.stringify(document, null, 2)}\n`, () => {
        // The lock binds Gazeway's own processes; a person's editor saves when it likes.
        if (readText(file) === seen) return
        throw new GazewayError(
          'conflict',
          `${file} was changed by someone else meanwhile; nothing was written. Try again.`,
        )
      })
    },
  }
}

async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  let lost = false
  const release = await lock(file, {
    realpath: false,
    stale: STALE_MS,
    retries: WAITS,
    // A process that was asleep past STALE_MS may have lost its lock; the check before the rename then decides.
    onCompromised: () => {
      lost = true
    },
  })
  try {
    return await work()
  } finally {
    if (!lost) await release()
  }
}

/** Writes beside `file`, flushes, renames over it and flushes the folder. `check` runs last before the rename. */
async function replaceFile(file: string, text: string, check: () => void): Promise<void> {
  await removeLeftovers(file)
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    check()
    // At once: in a turn of the event loop an editor could save what this would write over.
    renameSync(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(file))
}

/** Removes what killed processes left behind. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file)
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}.`) && name.endsWith('.tmp'))
  for (const name of names) {
    const path = join(folder, name)
    if (Date.now() - (await stat(path)).mtimeMs > LEFTOVER_MS) await rm(path, { force: true })
  }
}

function fileError(cause: unknown, file: string): GazewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new GazewayError('store_full', `${file}: not written, the disk is full; free some space.`, { cause })
  }
  if (code === 'ELOCKED') {
    const message = `${file}: another process keeps it locked; try again. If none is running, remove ${file}.lock.`
    return new GazewayError('store_unavailable', message, { cause, retryAfterSeconds: 5 })
  }
  // It cannot be renamed over.
  if (code === 'EBUSY' || code === 'EXDEV') {
    const message = `${file}: not written, as it is a mount of its own; mount the folder that holds it instead.`
    return new GazewayError('store_unavailable', message, { cause })
  }
  const message = `${file}: not written (${code}); its folder must be writable by this user.`
  return new GazewayError('store_unavailable', message, { cause })
}
