import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import { lock } from 'proper-lockfile'
import { GazewayError } from '../errors.ts'
import { makeFolder } from '../store/make-folder.ts'
import { notWritten, replaceFile } from '../store/replace-file.ts'
import type { ConfigDocument } from './config-schema.ts'
import { parseDocument, readText } from './document.ts'

/** How long a lock that nobody refreshes is respected: the holder was killed. */
const STALE_MS = 5_000
/** Together some 15 s, so that a waiter outlives a stale lock. */
const WAITS = { retries: 200, factor: 1.1, minTimeout: 5, maxTimeout: 50, randomize: true }

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
      const check = () => {
        // The lock binds Gazeway's own processes; a person's editor saves when it likes.
        if (readText(file) === seen) return
        throw new GazewayError(
          'conflict',
          `${file} was changed by someone else meanwhile; nothing was written. Try again.`,
        )
      }
      await replaceFile(file, `${JSON.stringify(document, null, 2)}\n`, { check })
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

function fileError(cause: unknown, file: string): GazewayError {
  if ((cause as NodeJS.ErrnoException).code !== 'ELOCKED') return notWritten(cause, file)
  const message = `${file}: another process keeps it locked; try again. If none is running, remove ${file}.lock.`
  return new GazewayError('store_unavailable', message, { cause, retryAfterSeconds: 5 })
}
