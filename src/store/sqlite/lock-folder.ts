import { join } from 'node:path'
import { GazewayError } from '../../errors.ts'
import { makeFolder } from '../make-folder.ts'
import { diskFull, notWritten } from '../replace-file.ts'
import { lockFile, type ProcessLock } from './process-lock.ts'
import { isForRoom } from './sqlite-errors.ts'

/**
 * Locks a folder for one job, and creates it where it is missing.
 *
 * @param name name of the lock's file in it; each job has its own
 * @param taken message while another process holds the lock
 * @throws GazewayError `conflict` with that message, `store_unavailable` or `store_full` where the file cannot be created
 */
export function lockFolder(folder: string, name: string, taken: string): ProcessLock {
  const lock = (() => {
    try {
      makeFolder(folder)
      return lockFile(join(folder, name))
    } catch (cause) {
      throw isForRoom(cause) ? diskFull(cause, folder) : notWritten(cause, folder)
    }
  })()
  if (lock !== null) return lock
  throw new GazewayError('conflict', taken)
}
