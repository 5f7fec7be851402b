import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Folder of compiled code in the data folder; it may be deleted at any time. */
const FOLDER = 'compile-cache'

/**
 * The folder of Node's compile cache (22.8 and later), which makes the next start faster. It lies in the data folder. Where
 * no data folder exists, nothing is cached: listing tools writes nothing. The configuration is not read for it, as its code
 * is cached, too; faults in the configuration are reported when it is read.
 *
 * @param args of the command line
 * @returns null where nothing is to be kept
 */
export async function compileCacheFolder(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const folder = flagged(args) ?? env.GAZEWAY_HOME?.trim() ?? (await platformFolder())
  if (!folder) return null
  const dataFolder = resolve(folder.replace(/^~(?=$|[\\/])/, () => homedir()))
  return existsSync(dataFolder) ? join(dataFolder, FOLDER) : null
}

/** The value of `--data FOLDER` or `--data=FOLDER`. */
function flagged(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => word === '--data' || word.startsWith('--data='))
  return args[at] === '--data' ? args[at + 1] : args[at]?.slice('--data='.length)
}

async function platformFolder(): Promise<string | null> {
  try {
    const { default: envPaths } = await import('env-paths')
    return envPaths('gazeway', { suffix: '' }).data
  } catch {
    // A user without a home folder.
    return null
  }
}
