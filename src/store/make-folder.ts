import { existsSync, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing, by default for this user alone. A folder that is there stays as
 * it is, also when another process makes it at the same time.
 *
 * Node's own `recursive` never returns below a folder that takes no new ones and says so with ENOENT, such as /proc.
 *
 * @throws the system's error, for the caller to say what could not be kept there
 */
export function makeFolder(path: string, mode = 0o700): void {
  for (const folder of missingFolders(path)) {
    try {
      mkdirSync(folder, { mode })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** The folders on the way to `path` that are not there, the topmost first. */
function missingFolders(path: string): string[] {
  if (existsSync(path)) return []
  const parent = dirname(path)
  return parent === path ? [path] : [...missingFolders(parent), path]
}

/**
 * Flushes a folder, so that a file renamed into it is there after a power cut.
 *
 * @throws the system's error
 */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for flushing; its file systems log the rename themselves.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
