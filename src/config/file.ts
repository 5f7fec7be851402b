import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { lock } from 'proper-lockfile'
import { GazewayError } from '../errors.ts'
import { makeFolder } from '../store/make-folder.ts'
import { notWritten, replaceFile } from '../store/replace-file.ts'
import { nullIfMissing } from '../text/missing-file.ts'
import type { ConfigDocument } from './config-schema.ts'
import { parseDocument, readText } from './document.ts'

/** Age from which an unrefreshed lock is stale: its holder was killed. */
const STALE_MS = 5_000
/** Longest wait for a lock, in milliseconds: a waiter outlives a stale lock. */
const PATIENCE_MS = 15_000
/** Time in which all who found a stale lock have cleared it. */
const SETTLE_MS = 100
/** Longest pause between two tries, in milliseconds. */
const PAUSE_MS = 50
/**
 * Codes of a lock that changes hands: another process clears a stale one (ENOENT), or Windows still has one that was
 * released. They pass soon, unless the folder is gone or read-only.
 */
const IN_BETWEEN: readonly unknown[] = process.platform === 'win32' ? ['ENOENT', 'EPERM', 'EBUSY'] : ['ENOENT']
/** Tries in a row that may end with such a code: about a second. */
const MAX_IN_BETWEEN = 40

/**
 * Changes a configuration file under a lock shared by all processes: read, change, write durably. A crash leaves either
 * the old or the new document. Missing file and folder are created.
 *
 * @param change maps the current document to the new one; when it throws, nothing is written
 * @throws GazewayError `config_invalid` when the file is broken (it is left unchanged), `conflict` when an editor saved
 *   it meanwhile, `store_unavailable` when it cannot be locked or written, `store_full` when the disk is full
 */
export async function updateDocument(
  file: string,
  change: (document: ConfigDocument) => ConfigDocument,
): Promise<ConfigDocument> {
  try {
    makeFolder(dirname(file))
    // Resolves symbolic links, so that a linked configuration stays linked.
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

/** lowdb adapter of the file: validates on read, writes durably, and only over the content it has read. */
function documentAdapter(file: string): Adapter<ConfigDocument> {
  let seen: string | null = null
  return {
    async read() {
      seen = readText(file)
      return seen === null ? null : parseDocument(seen, file)
    },
    async write(document) {
      const check = () => {
        // The lock only binds Gazeway's processes; an editor may save at any time.
        if (readText(file) === seen) return
        throw new GazewayError(
          'conflict',
          `${file} was changed by another program meanwhile; nothing was written. Retry.`,
        )
      }
      await replaceFile(file, `${JSON.stringify(document, null, 2)}\n`, { check })
    },
  }
}

async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  let lost = false
  const release = await takeLock(file, () => {
    // A process suspended for longer than STALE_MS may have lost its lock; the check before the rename then decides.
    lost = true
  })
  try {
    return await work()
  } finally {
    if (!lost) await release().catch(unlessGone)
  }
}

/** Handles the error of a release: another change of this process that took over the same stale lock released it. */
function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ERELEASED' && error.code !== 'ENOTACQUIRED') throw error
}

/** Waits for another process alone: what cannot be locked at all is thrown at once, or within about a second. */
async function takeLock(file: string, onCompromised: () => void): Promise<() => Promise<void>> {
  const until = performance.now() + PATIENCE_MS
  for (let between = 0; ; ) {
    try {
      const isTakeover = (await lockOf(file)).isStale
      const release = await lock(file, { realpath: false, stale: STALE_MS, onCompromised })
      if (!isTakeover || (await isKept(file))) return release
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      between = IN_BETWEEN.includes(code) ? between + 1 : 0
      const isPassing = code === 'ELOCKED' || (between > 0 && between < MAX_IN_BETWEEN)
      if (!isPassing || performance.now() > until) throw error
    }
    await delay(Math.random() * PAUSE_MS)
  }
}

/**
 * Tells whether a lock that was taken over is still there a moment later. Whoever else found the stale one may have cleared
 * this one in its place; a holder in between is done by then.
 */
async function isKept(file: string): Promise<boolean> {
  const { made } = await lockOf(file)
  await delay(SETTLE_MS)
  return made !== null && made === (await lockOf(file)).made
}

/** The lock on a file: which one it is, and whether its holder was killed. */
async function lockOf(file: string): Promise<{ made: string | null; isStale: boolean }> {
  const found = await stat(`${file}.lock`).catch(nullIfMissing)
  if (found === null) return { made: null, isStale: false }
  const { ino, mtimeMs, ctimeMs } = found
  return { made: `${ino} ${mtimeMs} ${ctimeMs}`, isStale: mtimeMs < Date.now() - STALE_MS }
}

function fileError(cause: unknown, file: string): GazewayError {
  if ((cause as NodeJS.ErrnoException).code !== 'ELOCKED') return notWritten(cause, file)
  const message = `${file}: another process holds its lock; retry. If none is running, remove ${file}.lock.`
  return new GazewayError('store_unavailable', message, { cause, retryAfterSeconds: 5 })
}
