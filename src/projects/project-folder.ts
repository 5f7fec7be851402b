import { createHash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MAX_PROJECT } from '../memory/records/memory-record.ts'
import { homeFolder } from '../text/home-folder.ts'

/** File that names a project by an id, relative to the project's folder. */
export const ID_FILE = '.gazeway/project'

/**
 * Returns the folder of the project around a folder: the nearest one upwards that holds a `.git` or an id file, or else
 * the folder itself. Its links are resolved.
 *
 * Null for a missing folder, and for the home folder and all folders above it, which are no project.
 */
export async function projectFolder(folder: string): Promise<string | null> {
  const [root, home] = await Promise.all([realOf(folder), realOf(homeFolder() ?? '/')])
  if (root === null) return null
  const shared = new Set(upwards(home ?? '/'))
  if (shared.has(root)) return null
  for (const candidate of upwards(root)) {
    if (shared.has(candidate)) return root
    const found = await Promise.all(['.git', ID_FILE].map((name) => exists(join(candidate, name))))
    if (found.includes(true)) return candidate
  }
  return root
}

/** Tells whether a path exists. A link that leads nowhere does. */
export const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** The path as a project's name, or its hash when the path is too long for a name. */
export const nameOf = (path: string): string =>
  path.length <= MAX_PROJECT ? path : `sha256:${createHash('sha256').update(path).digest('hex')}`

const realOf = (path: string): Promise<string | null> => realpath(path).catch(() => null)

/** Yields a folder and those above it. */
export function* upwards(from: string): Generator<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder
    if (folder === dirname(folder)) return
  }
}
