import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Environment } from '../config/environment.ts'
import { ownSearchPath } from '../text/search-path.ts'

/** Matches the caches of npx and pnpm dlx, which are emptied at any time. */
const CACHE = /[\\/](?:_npx|dlx)[\\/]/
/** Matches the built command. */
const BUILT = /[\\/]dist[\\/]cli\.js$/

/**
 * Tells whether a copy of Gazeway is not the user's own: it belongs to the packages of the project, whose authors can
 * replace it, or to a cache of downloads.
 *
 * @param command real path of the copy
 * @param project real path of the project
 */
export function isBorrowed(command: string, project: string): boolean {
  const [holder = '', packages] = command.split(`${sep}node_modules${sep}`)
  if (packages === undefined) return false
  const inside = relative(holder, project)
  return CACHE.test(command) || (!isAbsolute(inside) && inside.split(sep)[0] !== '..')
}

/**
 * Finds the copy that the command `gazeway` starts.
 *
 * @returns its real path; null when none is on the user's own search path
 */
export function installedCopy(env: Environment, platform: NodeJS.Platform): string | null {
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? ''
  // On Windows, npm writes scripts instead of links, beside the packages.
  const inFolder = platform === 'win32' ? ['node_modules', 'gazeway', 'dist', 'cli.js'] : ['gazeway']
  for (const folder of ownSearchPath(path, platform)) {
    const found = realPathOf(join(folder, ...inFolder))
    if (found !== null && BUILT.test(found)) return found
  }
  return null
}

/** Resolves links. Null for a missing file. */
function realPathOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
