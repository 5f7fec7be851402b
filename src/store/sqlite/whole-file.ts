import { closeSync, openSync } from 'node:fs'
import { driver } from './driver.ts'
import { isBusy, storeError } from './sqlite-errors.ts'

/**
 * Writes one moment of a SQLite file into another, without free pages. Others may write to the file meanwhile.
 *
 * @param to an empty file, or one that does not exist
 * @throws GazewayError `store_full`, `store_unavailable` or `store_corrupt`
 */
export function vacuumInto(file: string, to: string): void {
  // For this user only: SQLite would create it with the mode of the process.
  closeSync(openSync(to, 'a', 0o600))
  const source = driver.open(file, { readOnly: true })
  try {
    source.exec('pragma busy_timeout = 20000')
    // The copy can give free pages back, also where the file cannot yet. Where it can, the pragma would write.
    if (source.prepare('pragma auto_vacuum').get()?.auto_vacuum === 0) source.exec('pragma auto_vacuum = incremental')
    source.prepare('vacuum into ?').run(to)
  } catch (error) {
    throw storeError(error, to)
  } finally {
    source.close()
  }
}

/**
 * Takes a whole SQLite file for this process, and moves its log into it, so that nothing is left beside it.
 *
 * @returns the release of the file; null when another process has it open
 * @throws GazewayError as {@link vacuumInto}
 */
export function takeWholeFile(file: string): (() => void) | null {
  const database = driver.open(file)
  try {
    database.exec('pragma busy_timeout = 0; pragma locking_mode = exclusive; begin exclusive; commit')
    database.exec('pragma journal_mode = delete')
    return () => database.close()
  } catch (error) {
    database.close()
    if (isBusy(error)) return null
    throw storeError(error, file)
  }
}
