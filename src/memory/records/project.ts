import { createHash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { homeFolder } from '../../text/home-folder.ts'
import { MAX_PROJECT } from './memory-record.ts'

/**
 * Returns the project of a folder, as its memories name it. It is the real path of the nearest folder upwards that
 * holds a `.git`, or else of the folder itself.
 *
 * - The target of a `.git` file is not followed. So a linked worktree is a separate project, and no repository can
 *   impersonate another.
 * - Null for a missing folder, and for the home folder and all folders above it, which are no project.
 */
export async function projectOf(folder: string): Promise<string | null> {
  const [root, home] = await Promise.all([realOf(folder), realOf(homeFolder() ?? '/')])
  if (root === null) return null
  const shared = new Set(upwards(home ?? '/'))
  if (shared.has(root)) return null
  return named((await repositoryOf(root, shared)) ?? root)
}

const realOf = (path: string): Promise<string | null> => realpath(path).catch(() => null)

async function repositoryOf(root: string, shared: ReadonlySet<string>): Promise<string | null> {
  for (const folder of upwards(root)) {
    if (shared.has(folder)) return null
    if (await lstat(`${folder}/.git`).catch(() => null)) return folder
  }
  return null
}

function* upwards(from: string): Generator<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder
    if (folder === dirname(folder)) return
  }
}

/** The path as a project's name, or its hash when the path is too long for a name. */
const named = (path: string): string =>
  path.length <= MAX_PROJECT ? path : `sha256:${createHash('sha256').update(path).digest('hex')}`
