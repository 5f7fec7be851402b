import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { GazewayError } from '../errors.ts'
import { insideAny, resolveRoot } from '../repository/confine.ts'
import { isMissing } from '../text/missing-file.ts'

/**
 * Folders that may hold the root when the client declares none. The configured folders come first; without them, the
 * working directory and the git repositories below the home folder.
 */
export interface AllowedRoots {
  /** The configuration's `context.roots`. */
  configured: () => readonly string[]
  workingDirectory: () => string
  /** Path of the working directory now, which may have been moved since the start. */
  movedDirectory: () => Promise<string>
  /** Null when the user has none. */
  homeFolder: () => string | null
}

/** A project root that may be read. */
export interface Root {
  /** Path with links resolved, where the root is now. */
  path: string
  /** Absolute path as it was named: before its links were resolved, and before it was moved. */
  named: string
}

/**
 * Decides which root a call reads. The root must lie in a folder of the first list that is not empty:
 *
 * 1. the roots that the client declared 2. `context.roots` of the configuration 3. the working directory, and git
 * repositories below the home folder
 */
export function createAllowRoot(allowed: AllowedRoots) {
  /**
   * @param asked root that the caller names; undefined for the client's first root, else the working directory
   * @param declared roots of the client
   * @throws GazewayError `forbidden_path` (param `root`) for a root elsewhere; `not_found` (param `root`) when the root
   *   is not a readable directory
   */
  return async function allowRoot(asked: string | undefined, declared: readonly string[]): Promise<Root> {
    const given = declared.length > 0 ? declared : allowed.configured()
    const folders = await namesOf(given.length > 0 ? given : [allowed.workingDirectory()])
    const named = resolve(asked ?? defaultOf(folders, declared))
    const found = await resolveRoot(await placeNow(named)).catch((error: GazewayError) => error)
    const path = typeof found === 'string' ? found : named
    const moved = await Promise.all(folders.map(placeNow))
    const isAllowed =
      insideAny([...folders, ...moved], path) !== null || (given.length === 0 && (await isInRepository(path)))
    if (!isAllowed) throw forbidden(named)
    // Thrown only for allowed folders: the error reveals whether the folder exists.
    if (typeof found !== 'string') throw found
    return { path, named }
  }

  /** Returns the client's first root, else the working directory if it is allowed, else the first allowed folder. */
  function defaultOf(folders: readonly string[], declared: readonly string[]): string {
    const [first] = declared
    if (first !== undefined) return first
    const workingDirectory = allowed.workingDirectory()
    return insideAny(folders, workingDirectory) === null ? (folders[0] ?? workingDirectory) : workingDirectory
  }

  /**
   * Returns where a folder is now. The working directory may have been moved while the process runs, with all that is in
   * it; its old path is what clients go on to name. A folder that cannot be looked at has not moved.
   */
  async function placeNow(folder: string): Promise<string> {
    const inside = insideAny([allowed.workingDirectory()], folder)
    if (inside === null) return folder
    const isGone = await lstat(folder).then(() => false, isMissing)
    return isGone ? join(await allowed.movedDirectory(), inside) : folder
  }

  /** Tells whether `path` or a folder above it, up to the home folder, is a git repository. */
  async function isInRepository(path: string): Promise<boolean> {
    const home = allowed.homeFolder()
    if (home === null) return false
    const homes = await namesOf([home])
    for (let folder = path; insideAny(homes, folder); folder = dirname(folder)) {
      const found = await lstat(join(folder, '.git')).catch(() => null)
      if (found) return true
    }
    return false
  }
}

/**
 * Returns where the working directory is now. `process.cwd()` is its path at the start; the system follows it when it is
 * moved.
 */
export const movedDirectory = (): Promise<string> => realpath('.').catch(() => process.cwd())

/** Resolves folders and their links. Returns both names of each folder. */
async function namesOf(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)))
  return [...new Set([...real, ...folders.map((folder) => resolve(folder))])]
}

function forbidden(root: string): GazewayError {
  const message =
    `The root ${root} is in no folder that may be read. Name one inside the project that the client has open, or add ` +
    'its folder to context.roots in the configuration.'
  return new GazewayError('forbidden_path', message, { param: 'root' })
}
