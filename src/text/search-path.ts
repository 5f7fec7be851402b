import { posix, win32 } from 'node:path'

/** Matches the folders that npm, npx and others put before a search path: those of the commands of a project's packages. */
const OF_PACKAGES = /[\\/]node_modules[\\/]\.bin[\\/]?$/

/**
 * Lists the folders of a search path that are the user's own, whichever folder is the working directory. An untrusted
 * repository fills the others: relative and empty ones, and `node_modules/.bin`.
 *
 * @param path value of `PATH`
 */
export function ownSearchPath(path: string, platform: NodeJS.Platform): string[] {
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !OF_PACKAGES.test(folder))
}
