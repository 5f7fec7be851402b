import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { insideAny, readInside } from './confine.ts'
import { git } from './git-command.ts'

/** A checkout with its own repository. */
export interface Repository {
  /** The folder that holds `.git`. */
  top: string
  /** The folder of the checkout's index and HEAD, with links resolved. */
  gitDir: string
  /** The folder of what all worktrees share: objects, references and configuration. */
  commonDir: string
}

/** Depth to which git follows symbolic references. */
const SYMREF_DEPTH = 5
const POINTER_BYTES = 4096

/**
 * Finds the repository around a folder: the nearest one with a `.git`.
 *
 * A repository can come with the project's files and is not trusted. It may name other folders in `.git`, `commondir`,
 * `core.worktree` or links, and git would list the names in them. So everything that is read must be below `top`, or in
 * a git folder that names `top` itself, as for linked worktrees and submodules.
 *
 * @param root with its links resolved
 * @returns null without a repository; the reason when it leads elsewhere and is not read
 * @throws GazewayError `cancelled` when the signal aborts
 */
export async function findRepository(
  root: string,
  signal?: AbortSignal,
): Promise<Repository | { refused: string } | null> {
  const top = await findTop(root)
  if (top === null) return null
  // GIT_CEILING_DIRECTORIES has no escape for the delimiter.
  if (dirname(top).includes(delimiter)) return { refused: `the path of the project has a "${delimiter}"` }
  const gitDir = await findGitDir(top)
  if (gitDir === null) return { refused: 'its .git names no folder' }
  const commonDir = await findCommonDir(gitDir)
  const isOwn = insideAny([top], gitDir) !== null || (await namesCheckout(gitDir, top, signal))
  const sharesOwn = insideAny([top, gitDir], commonDir) !== null || dirname(gitDir) === join(commonDir, 'worktrees')
  if (!isOwn || !sharesOwn || !(await hasNoLinks([gitDir, commonDir])))
    return { refused: 'its repository leads to another folder, which does not name this one' }
  return { top, gitDir, commonDir }
}

/** Version of the index file, new whenever git replaces the file; null without one. */
export async function indexVersion(gitDir: string): Promise<string | null> {
  const info = await stat(join(gitDir, 'index'), { bigint: true }).catch(() => null)
  return info && `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`
}

async function findTop(root: string): Promise<string | null> {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = await lstat(join(folder, '.git')).catch(() => null)
    if (found) return folder
    if (folder === dirname(folder)) return null
  }
}

/** Returns the folder that `.git` is, or that its line `gitdir: PATH` names (gitrepository-layout). */
async function findGitDir(top: string): Promise<string | null> {
  const real = await realpath(join(top, '.git')).catch(() => null)
  if (real === null) return null
  const pointer = await pointerIn(dirname(real), basename(real))
  if (pointer === null) return real
  const [, path] = /^gitdir: (.+)$/.exec(pointer) ?? []
  return path === undefined ? null : realpath(resolve(dirname(real), path)).catch(() => null)
}

async function findCommonDir(gitDir: string): Promise<string> {
  const path = await pointerIn(gitDir, 'commondir')
  if (path === null) return gitDir
  const named = resolve(gitDir, path)
  return realpath(named).catch(() => named)
}

/** Tells whether a git folder names `top` in `gitdir` (linked worktree) or `core.worktree` (submodule). */
async function namesCheckout(gitDir: string, top: string, signal?: AbortSignal): Promise<boolean> {
  const back = await pointerIn(gitDir, 'gitdir')
  if (back !== null) return isSame(resolve(gitDir, back), join(top, '.git'))
  const query = ['config', '--file', join(gitDir, 'config'), '--no-includes', '-z', 'core.worktree']
  const { output } = await git({ root: top, top }, query, signal)
  const [worktree] = output.split('\0')
  return worktree !== undefined && worktree !== '' && isSame(resolve(gitDir, worktree), top)
}

async function isSame(path: string, other: string): Promise<boolean> {
  const [real, otherReal] = await Promise.all([realpath(path).catch(() => null), realpath(other).catch(() => null)])
  return real !== null && real === otherReal
}

/**
 * Checks that the files in which git looks for the index, references or other folders are not reached through links.
 */
async function hasNoLinks(folders: readonly string[]): Promise<boolean> {
  const names = ['commondir', 'index', 'packed-refs', 'refs', 'reftable', ...(await referencesFrom(folders))]
  const checks = folders.flatMap((folder) => names.map((name) => meetsLink(folder, name)))
  return !(await Promise.all(checks)).includes(true)
}

/** Tells whether a part of the path below `folder` is a link. */
async function meetsLink(folder: string, name: string): Promise<boolean> {
  let path = folder
  for (const part of name.split('/')) {
    path = join(path, part)
    const info = await lstat(path).catch(() => null)
    if (info === null) return false
    if (info.isSymbolicLink()) return true
  }
  return false
}

/** Lists HEAD and the references that it leads to. */
async function referencesFrom(folders: readonly string[]): Promise<string[]> {
  const names = ['HEAD']
  for (let depth = 0; depth < SYMREF_DEPTH; depth++) {
    const contents = await Promise.all(folders.map((folder) => pointerIn(folder, names.at(-1) ?? '')))
    const [, next] = contents.map((content) => /^ref:\s*(.+)$/.exec(content ?? '')).find((match) => match) ?? []
    if (next === undefined) break
    names.push(next)
  }
  return names
}

/** Reads a small file of git as text; null when it is missing or is a link. */
async function pointerIn(folder: string, name: string): Promise<string | null> {
  const bytes = await readInside(folder, name, POINTER_BYTES)
  return bytes === null ? null : bytes.toString('utf8').trimEnd()
}
