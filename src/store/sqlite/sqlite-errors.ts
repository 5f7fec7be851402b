import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { GazewayError } from '../../errors.ts'

const BUSY = 'database is locked'
const FULL = 'database or disk is full'
const IO_ERROR = 'disk I/O error'
const READ_ONLY = 'attempt to write a readonly database'
const MALFORMED = 'database disk image is malformed'
/** Other messages for a damaged file: of the text index, and of the schema. */
const DAMAGED = /^(?:fts5: (?:corrupt|missing row)|malformed database schema)/

/**
 * Advice for a damaged file. Its log must be moved as well: SQLite would write it into another file of the same name.
 */
export const DAMAGED_ADVICE =
  'Stop every process that uses it, move it away with the -wal and -shm files beside it, and restore a backup or start empty.'

/** SQLite's texts for result codes (`sqlite3_errstr`), the same in all versions, with our advice. */
const MESSAGES: Readonly<
  Record<string, [code: 'store_full' | 'store_unavailable' | 'store_corrupt', advice: string] | undefined>
> = {
  [BUSY]: ['store_unavailable', 'another process has locked it, for example to migrate it; retry later.'],
  [FULL]: ['store_full', 'the disk is full; nothing was written. Free some space, then retry.'],
  [READ_ONLY]: ['store_unavailable', 'the file or its folder is read-only; give this user write permission.'],
  'unable to open database file': [
    'store_unavailable',
    'it cannot be opened; check that the folder exists and is writable.',
  ],
  [IO_ERROR]: ['store_unavailable', 'the disk reported an input/output error; nothing was written. Check the disk.'],
  'file is not a database': [
    'store_corrupt',
    'it is not a SQLite database. Move it away, or point --store at another file.',
  ],
  [MALFORMED]: ['store_corrupt', `it is damaged. ${DAMAGED_ADVICE}`],
}

const damaged = new Set<string>()

/** Tells whether this process has found a file to be damaged. It stays so until a restart, with a restored file. */
export const isDamaged = (file: string): boolean => damaged.has(file)

/** Tells whether another connection holds the lock that a statement needs. */
export const isBusy = (error: unknown): boolean => resultOf(error) === BUSY

/** Tells whether the disk has no room for what a statement writes. */
export const isForRoom = (error: unknown): boolean => resultOf(error) === FULL

/**
 * Tells whether a write failed for lack of space or permission, or because of the disk, so that the next write fails as
 * well. Takes the error of {@link storeError}.
 */
export function refusesWrites(error: unknown): boolean {
  const result = resultOf(error instanceof GazewayError ? error.cause : error)
  return result === FULL || result === READ_ONLY || result === IO_ERROR
}

/**
 * Converts a driver error to a message that says what to do. Errors that are not about the file are returned unchanged.
 */
export function storeError(error: unknown, file: string): unknown {
  const result = resultOf(error)
  const found = MESSAGES[(result === IO_ERROR && isFull(file) ? FULL : result) ?? '']
  if (!found) return error
  if (found[0] === 'store_corrupt') damaged.add(file)
  return new GazewayError(found[0], `The store ${file}: ${found[1]}`, { cause: error, file })
}

/** Text of SQLite's result. The driver omits the number for statements that return rows. */
function resultOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return null
  const message = 'errstr' in error ? String(error.errstr) : error.message
  return DAMAGED.test(message) ? MALFORMED : message
}

/** Bytes that SQLite adds to the shared memory of its log at a time. Without room for them it reports an I/O error. */
const SHARED_MEMORY_BYTES = 32 * 1024

/** Tells whether the disk of a file is full. */
function isFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize < SHARED_MEMORY_BYTES
  } catch {
    // Its folder is gone: the disk is not the reason.
    return false
  }
}
