import { existsSync, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents, by default for this user only. Existing folders stay unchanged, even when
 * another process creates one at the same time.
 *
 * Node's own `recursive` hangs below a folder that rejects new ones with ENOENT, such as /proc.
 *
 * @throws the system's error
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

/** Missing folders on the way to `path`, topmost first. */
function missingFolders(path: string): string[] {
  if (existsSync(path)) return []
  const parent = dirname(path)
  return parent === path ? [path] : [...missingFolders(parent), path]
}

/**
 * Flushes a folder, so that a file renamed into it survives a power failure.
 *
 * @throws the system's error
 */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for flushing; its file systems log renames themselves.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
