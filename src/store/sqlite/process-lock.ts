import { accessSync, closeSync, constants, existsSync, fchownSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
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
 * @throws the system's error when the file cannot be created or written, the driver's where its folder has no locks
 */
export function lockFile(path: string): ProcessLock | null {
  createPrivately(path)
  // SQLite would open one that it may only read, and lock nothing.
  accessSync(path, constants.W_OK)
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

/**
 * Creates a file for this user alone; one of root for the owner of its folder, who needs it as well. One that is there
 * stays closed: closing it would end the locks of this process on it.
 */
function createPrivately(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      if (process.geteuid?.() === 0) giveToOwner(file, dirname(path))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function giveToOwner(file: number, folder: string): void {
  const { uid, gid } = statSync(folder)
  if (uid === 0) return
  try {
    fchownSync(file, uid, gid)
  } catch {
    // A container may take this right from its root, which uses the file all the same.
  }
}

/** Tells whether a process holds the lock of a file. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const lock = lockFile(path)
  lock?.release()
  return lock === null
}
