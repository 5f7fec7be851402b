import { GazewayError } from '../../errors.ts'

const MESSAGES: ReadonlyArray<
  [prefix: string, code: 'store_full' | 'store_unavailable' | 'store_corrupt', advice: string]
> = [
  ['SQLITE_FULL', 'store_full', 'the disk is full; nothing was written. Free some space and try again.'],
  ['SQLITE_READONLY', 'store_unavailable', 'the file or its folder is read-only; give this user write permission.'],
  ['SQLITE_CANTOPEN', 'store_unavailable', 'it cannot be opened; check that the folder exists and is writable.'],
  ['SQLITE_IOERR', 'store_unavailable', 'the disk reported an input/output error; nothing was written.'],
  ['SQLITE_BUSY', 'store_unavailable', 'another process keeps it locked; try again, or end the process that holds it.'],
  ['SQLITE_NOTADB', 'store_corrupt', 'it is not a SQLite database. Move it away, or point --store at another file.'],
  ['SQLITE_CORRUPT', 'store_corrupt', 'it is damaged. Restore a backup, or move it away to start empty.'],
]

/** The SQLite result code of an error that the driver threw (`SQLITE_BUSY`), or null for any other error. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  return error.code.startsWith('SQLITE_') ? error.code : null
}

/** A driver error in words that say what to do; errors that are not about the file itself come back unchanged. */
export function storeError(error: unknown, file: string): unknown {
  const code = sqliteCode(error)
  const found = MESSAGES.find(([prefix]) => code?.startsWith(prefix))
  if (!found) return error
  return new GazewayError(found[1], `The store ${file}: ${found[2]}`, { cause: error })
}
