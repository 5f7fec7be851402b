import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { platformFolder } from '../../src/config/platform-folder.ts'

/** Folder of compiled code in the data folder. It may be deleted at any time. */
const FOLDER = 'compile-cache'

/**
 * Returns the folder of Node's compile cache (22.8 and later), which speeds up the next start. It is in the data
 * folder. The configuration is not read here, because its code is cached as well. Its faults are reported when it is
 * read.
 *
 * @param args arguments of the command line
 * @returns null without a data folder: nothing is cached then, because listing tools must not write
 */
export function compileCacheFolder(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const folder = flagged(args) ?? env.GAZEWAY_HOME?.trim() ?? dataFolderOfPlatform()
  if (!folder) return null
  const dataFolder = resolve(folder.replace(/^~(?=$|[\\/])/, () => homedir()))
  return existsSync(dataFolder) ? join(dataFolder, FOLDER) : null
}

/** The value of `--data FOLDER` or `--data=FOLDER`. */
function flagged(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => word === '--data' || word.startsWith('--data='))
  return args[at] === '--data' ? args[at + 1] : args[at]?.slice('--data='.length)
}

function dataFolderOfPlatform(): string | null {
  try {
    return platformFolder()
  } catch {
    // The user has no home folder.
    return null
  }
}
