import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { GazewayError } from '../errors.ts'
import { makeFolder } from '../store/make-folder.ts'
import { notWritten, replaceFile } from '../store/replace-file.ts'
import { lockFile, type ProcessLock } from '../store/sqlite/process-lock.ts'
import type { ConfigDocument } from './config-schema.ts'
import { parseDocument, readText } from './document.ts'

/** Longest wait for a lock, in milliseconds. */
const PATIENCE_MS = 15_000
/** Longest pause between two tries, in milliseconds. */
const PAUSE_MS = 50
/** Messages of SQLite for a lock's file that it cannot open or write. */
const IS_OF_FILE = /unable to open|readonly/

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
    throw error instanceof GazewayError ? error : notWritten(error, file)
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

/** Works while no other process does. The lock is the system's, on a file beside this one that stays: it ends with its process. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await takeLock(file)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function takeLock(file: string): Promise<ProcessLock> {
  for (const until = performance.now() + PATIENCE_MS; ; await delay(Math.random() * PAUSE_MS)) {
    const lock = lockBeside(file)
    if (lock !== null) return lock
    if (performance.now() < until) continue
    // SQLite does not tell them apart.
    const message = `${file}: another process has locked it; retry once that process goes on or has ended. Or its folder has no locks, as some network folders: use a local one.`
    throw new GazewayError('store_unavailable', message, { retryAfterSeconds: 5 })
  }
}

function lockBeside(file: string): ProcessLock | null {
  const path = `${file}-lock`
  try {
    return lockFile(path)
  } catch (cause) {
    const { code, syscall, message } = Object(cause) as NodeJS.ErrnoException
    if (code === 'EACCES' && syscall === 'access') {
      const why = `${path}: not written (EACCES); it belongs to another user: remove it while no Gazeway runs.`
      throw new GazewayError('store_unavailable', why, { cause })
    }
    if (code !== 'ERR_SQLITE_ERROR') throw notWritten(cause, path)
    const advice = IS_OF_FILE.test(message) ? '' : ' Some network folders have no locks: use a local one.'
    throw new GazewayError('store_unavailable', `${path} cannot be locked (${message}).${advice}`, { cause })
  }
}
