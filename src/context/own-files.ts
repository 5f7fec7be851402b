import { realpath } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { insideAny, isUnreadable } from './confine.ts'

/** What a data folder of Gazeway's holds: the provider's key, the admin key, everybody's records. */
const OWN = /^(?:config\.json|admin\.key|gazeway\.db)/
/** The folder of the indexes in it, which hold words of all projects. */
const INDEX = /(^|\/)file-index\/[^/]+$/
/** What tells a data folder from others. */
const MARKS = new Set(['admin.key', 'gazeway.db'])

/**
 * Tells the files that Gazeway itself keeps below a root: they are nobody's work, and their secrets are not to be shown.
 * Not only in the data folder of this process: another one may keep its own in the project.
 *
 * @param files all files below the root, relative to it
 * @param dataFolder of this process; null when unknown
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

/** The folder with its links resolved; as it is named where it does not exist yet. */
async function realOf(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (error) {
    if (isUnreadable(error)) return folder
    throw error
  }
}
