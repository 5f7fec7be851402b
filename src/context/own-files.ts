import { realpath } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { insideAny, isUnreadable } from '../repository/confine.ts'

/** The files of a Gazeway data folder: the configuration with provider keys, the admin key, the database. */
const OWN = /^(?:config\.json|admin\.key|gazeway\.db)/
/** Folder of the indexes in the data folder; they hold words of all projects. */
const INDEX = /(^|\/)file-index\/[^/]+$/
/** File names that identify a data folder. */
const MARKS = new Set(['admin.key', 'gazeway.db'])

/**
 * Returns a predicate for Gazeway's own files below a root. They may hold secrets and are never shown. It covers the
 * data folder of this process and other data folders inside the project.
 *
 * @param files all files below the root, relative to it
 * @param dataFolder data folder of this process; null when unknown
 */
export async function ownFiles(
  root: string,
  files: readonly string[],
  dataFolder: string | null,
): Promise<(path: string) => boolean> {
  const folders = new Set(files.filter((path) => MARKS.has(basename(path))).map(posix.dirname))
  const inside = dataFolder === null ? null : insideAny([root], await realOf(dataFolder))
  if (inside !== null) folders.add(inside || '.')
  if (folders.size === 0) return () => false
  const isOwn = (path: string) => OWN.test(basename(path)) && folders.has(posix.dirname(path))
  return (path) => isOwn(path) || (INDEX.test(path) && folders.has(posix.dirname(posix.dirname(path))))
}

/** Resolves the links of the folder; returns it unchanged when it does not exist yet. */
async function realOf(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (error) {
    if (isUnreadable(error)) return folder
    throw error
  }
}
