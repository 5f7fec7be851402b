import { setTimeout as delay } from 'node:timers/promises'
import { collectGarbage } from './collect-garbage.ts'

interface Renamed {
  /** This process has just closed a store that the rename moves. Its file stays open until garbage is collected. */
  isClosedStore?: boolean
  platform?: NodeJS.Platform
}

/** Codes of Windows for a rename while a program, such as a virus scanner or this process, has the file open. */
const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY']
/** Delays before the rename is retried, in milliseconds. */
const RETRY_AFTER_MS = [10, 20, 50, 100, 200, 400, 800]

/**
 * Renames a file, or a folder. On Windows a rename that fails because a file is in use is retried for a second and a half. Other
 * systems rename open files, so the error is thrown at once there.
 *
 * @param rename what renames it, called at each try
 * @throws the system's error, and whatever else `rename` throws
 */
export async function renameInUse(
  rename: () => void | Promise<void>,
  { isClosedStore = false, platform = process.platform }: Renamed = {},
): Promise<void> {
  for (const [tries, retryAfterMs] of platform === 'win32' ? RETRY_AFTER_MS.entries() : []) {
    try {
      return await rename()
    } catch (error) {
      if (!IN_USE.includes((error as NodeJS.ErrnoException).code)) throw error
    }
    if (isClosedStore && tries === 0) collectGarbage()
    await delay(retryAfterMs)
  }
  await rename()
}
