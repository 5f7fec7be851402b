import { existsSync } from 'node:fs'
import { driver } from './driver.ts'
import { isBusy } from './sqlite-errors.ts'

/** A lock that this process holds. */
export interface ProcessLock {
  release(): void
}

/**
 * Locks a file until it is released or the process has ended, however that happens. A process that is suspended keeps its
 * locks. The lock is SQLite's, since Node has none: it holds between containers that share a folder as well.
 *
 * @returns null while another process holds it
 * @throws the system's error when the file cannot be created
 */
export function lockFile(path: string): ProcessLock | null {
  const database = driver.open(path)
  try {
    database.exec('begin exclusive')
  } catch (error) {
    database.close()
    if (isBusy(error)) return null
    throw error
  }
  return { release: () => database.close() }
}

/** Tells whether a process holds the lock of a file. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const lock = lockFile(path)
  lock?.release()
  return lock === null
}
