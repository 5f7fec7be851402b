import { lstat, stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { readInside } from '../repository/confine.ts'
import { git } from '../repository/git-command.ts'
import { findRepository, type Repository } from '../repository/repository.ts'
import type { ProjectPlaceRow } from '../store/tables/projects-tables.ts'
import { exists, ID_FILE } from './project-folder.ts'

/** Evidence by which a project is recognized in another folder. */
export type Evidence = Pick<
  ProjectPlaceRow,
  'common_dir' | 'root_commit' | 'remote' | 'file_id' | 'parent' | 'stamp'
> & {
  /** Folder that names the project: the main checkout of a linked worktree, else the folder itself. */
  main: string
}

const ID = /^prj_[0-9a-f]{32}$/
const ID_BYTES = 100
const MAX_REMOTE = 1000

/**
 * Reads the evidence in a project's folder. Nothing in it is trusted: a repository that leads to another folder has
 * none (`findRepository`), and no program of its configuration runs.
 */
export async function readEvidence(folder: string): Promise<Evidence> {
  const found = await findRepository(folder)
  const repository = found !== null && 'top' in found && found.top === folder ? found : null
  const common_dir = repository?.commonDir ?? null
  const [file_id, root_commit, remote, parent, stamp] = await Promise.all([
    readId(folder),
    repository && readRootCommit(repository),
    repository && readRemote(repository),
    repository && findParent(repository),
    stampOf(folder, common_dir),
  ])
  return { common_dir, root_commit, remote, file_id, parent, stamp, main: repository ? mainOf(repository) : folder }
}

/**
 * State of a folder's `.git`, of git's common directory and of its configuration. As long as it stays, so does the
 * evidence.
 */
export async function stampOf(folder: string, commonDir: string | null): Promise<string> {
  const identity = async (path: string) => {
    const info = await lstat(path).catch(() => null)
    return info === null ? '' : `${info.ino}:${info.birthtimeMs}`
  }
  const dotGit = await identity(join(folder, '.git'))
  if (commonDir === null) return dotGit
  const config = await stat(join(commonDir, 'config')).catch(() => null)
  return `${dotGit} ${await identity(commonDir)} ${config?.mtimeMs ?? 0}`
}

/** Tells whether two stamps are of the same common directory, whatever its configuration. */
export const isSameGit = (stamp: string, other: string): boolean => stamp.split(' ')[1] === other.split(' ')[1]

/** Reads the id in a folder's id file; null without a valid one. */
export async function readId(folder: string): Promise<string | null> {
  const text = (await readInside(folder, ID_FILE, ID_BYTES))?.toString('utf8').trim() ?? ''
  return ID.test(text) ? text : null
}

/** The first commit of the current branch. Null before the first one, and in a shallow clone, which lacks it. */
export async function readRootCommit({ top, commonDir }: Repository): Promise<string | null> {
  if (await exists(join(commonDir, 'shallow'))) return null
  const { output } = await git({ root: top, top }, ['rev-list', '--max-parents=0', '--first-parent', 'HEAD'])
  return output.trim().split('\n').at(-1) || null
}

/** The address of the remote: host and path alone, which are the same over all protocols. */
async function readRemote(repository: Repository): Promise<string | null> {
  const url = await readRemoteUrl(repository)
  return url === null ? null : addressOf(url)
}

/** The URL of `origin`, or of the first other remote. It may hold a credential. */
export async function readRemoteUrl({ top, commonDir }: Repository): Promise<string | null> {
  const file = ['config', '--file', join(commonDir, 'config'), '--no-includes', '-z']
  const { output } = await git({ root: top, top }, [...file, '--get-regexp', '^remote\\..*\\.url$'])
  const remotes = output.split('\0').filter(Boolean)
  const named = remotes.find((remote) => remote.startsWith('remote.origin.url\n')) ?? remotes[0]
  return named === undefined ? null : named.slice(named.indexOf('\n') + 1)
}

/** Host and path of a remote: `git@host:ann/shop.git` becomes `host/ann/shop`. */
function addressOf(url: string): string {
  const [, host, path] = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+(?=\/))?[:/]+(.+)$/i.exec(url) ?? []
  const address = host === undefined ? url : `${host.toLowerCase()}/${path}`
  return address.replace(/\/*(\.git)?\/*$/, '').slice(0, MAX_REMOTE)
}

/** The checkout that a submodule is part of. */
async function findParent({ top, gitDir }: Repository): Promise<string | null> {
  const around = await findRepository(dirname(top))
  if (around === null || 'refused' in around) return null
  return gitDir.startsWith(join(around.commonDir, sep)) ? around.top : null
}

function mainOf({ top, gitDir, commonDir }: Repository): string {
  if (dirname(gitDir) !== join(commonDir, 'worktrees')) return top
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir
}
