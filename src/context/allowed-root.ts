import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { GazewayError } from '../errors.ts'
import { insideAny, resolveRoot } from './confine.ts'

/**
 * Folders that a root may lie in when the client declares none: the configured ones, else the working directory and git
 * repositories below the home folder.
 */
export interface AllowedRoots {
  /** The configuration's `context.roots`. */
  configured: () => readonly string[]
  workingDirectory: () => string
  /** Null where the user has none. */
  homeFolder: () => string | null
}

/** A root that may be read. */
export interface Root {
  /** With its links resolved. */
  path: string
  /** As it was named. */
  named: string
}

/**
 * Creates the check of a call's root. The first of these that is set decides where the root may lie:
 * - the roots that the client declared;
 * - the roots of the configuration;
 * - the working directory, and git repositories below the home folder.
 */
export function createAllowRoot(allowed: AllowedRoots) {
  /**
   * @param asked what the caller names; undefined for the client's first root, else the working directory
   * @param declared the client's roots
   * @throws GazewayError `forbidden_path` (param `root`) for a root elsewhere, `not_found` (param `root`) when it is not a
   *   directory that can be read
   */
  return async function allowRoot(asked: string | undefined, declared: readonly string[]): Promise<Root> {
    const given = declared.length > 0 ? declared : allowed.configured()
    const folders = await namesOf(given.length > 0 ? given : [allowed.workingDirectory()])
    const named = resolve(asked ?? defaultOf(folders, declared))
    const found = await resolveRoot(named).catch((error: GazewayError) => error)
    const path = typeof found === 'string' ? found : named
    const isAllowed = insideAny(folders, path) !== null || (given.length === 0 && (await isInRepository(path)))
    if (!isAllowed) throw forbidden(named)
    // Only now: of other folders the answer does not tell what is there.
    if (typeof found !== 'string') throw found
    return { path, named }
  }

  /** The working directory where it is allowed. */
  function defaultOf(folders: readonly string[], declared: readonly string[]): string {
    const [first] = declared
    if (first !== undefined) return first
    const workingDirectory = allowed.workingDirectory()
    return insideAny(folders, workingDirectory) === null ? (folders[0] ?? workingDirectory) : workingDirectory
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

/** Folders under the names that they have: as given, and with links resolved. */
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
