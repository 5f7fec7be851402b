import { realpath } from 'node:fs/promises'
import { readInside } from '../repository/confine.ts'
import { type Checkout, git } from '../repository/git-command.ts'
import { readFilters, readStatus } from '../repository/git-status.ts'
import { findRepository, type Repository } from '../repository/repository.ts'
import { repositoryName } from '../text/repository-name.ts'
import { readRemoteUrl, readRootCommit } from './evidence.ts'

/** State of a checkout that the cost of work is told by. */
export interface RepositoryFacts {
  /** Folder of the checkout. */
  top: string
  /** The remote as `host/owner/name`, else the first commit as `root:SHA`; null without either. */
  repository: string | null
  /** Branch that is checked out, or that a rebase works on; null for none. */
  branch: string | null
  /** Null before the first commit. */
  commit: string | null
  /** When the commit was made; null before the first one. */
  committedAt: Date | null
  /** Tells whether tracked files differ from the commit; null where git does not say so in time. */
  dirty: boolean | null
}

const BRANCH = 'refs/heads/'
/** Files in which git keeps the branch that a rebase works on. */
const REBASED = ['rebase-merge/head-name', 'rebase-apply/head-name']
const REFERENCE_BYTES = 4096
/** Longest name of a branch that facts may have, in characters. They have no control characters, either. */
const LONGEST_BRANCH = 255
/** Time for the state of the files, in milliseconds. */
const DIRTY_MS = 700

/**
 * Reads the repository around a folder, without running a program that its configuration names. A submodule is a
 * repository of its own; a linked worktree has the remote of its main checkout.
 *
 * @returns null without a repository, and for one that is not read because it leads to another folder
 * @throws GazewayError `cancelled` when the signal aborts
 */
export async function readRepositoryFacts(folder: string, signal?: AbortSignal): Promise<RepositoryFacts | null> {
  const root = await realpath(folder).catch(() => null)
  const found = root === null ? null : await findRepository(root, signal)
  if (found === null || 'refused' in found) return null
  const checkout = { root: found.top, top: found.top }
  const [repository, branch, head, dirty] = await Promise.all([
    readName(found),
    readBranch(found, signal),
    git(checkout, ['log', '-1', '--format=%H %ct', 'HEAD', '--'], signal),
    isDirty(checkout, signal),
  ])
  const [, commit, committed] = /^([0-9a-f]+) (\d+)$/.exec(head.output.trim()) ?? []
  return {
    top: found.top,
    repository,
    branch,
    commit: commit ?? null,
    committedAt: committed === undefined ? null : new Date(Number(committed) * 1000),
    dirty,
  }
}

async function readName(repository: Repository): Promise<string | null> {
  const url = await readRemoteUrl(repository)
  const named = url === null ? null : repositoryName(url)
  if (named !== null) return named
  const rootCommit = await readRootCommit(repository)
  return rootCommit === null ? null : `root:${rootCommit}`
}

async function readBranch({ top, gitDir }: Repository, signal?: AbortSignal): Promise<string | null> {
  const { output } = await git({ root: top, top }, ['symbolic-ref', '--quiet', 'HEAD'], signal)
  const rebased = REBASED.map(async (file) => (await readInside(gitDir, file, REFERENCE_BYTES))?.toString('utf8') ?? '')
  const references = [output, ...(output.trim() === '' ? await Promise.all(rebased) : [])]
  const reference = references.map((line) => line.trim()).find((line) => line.startsWith(BRANCH))
  const branch = reference?.slice(BRANCH.length)
  return branch === undefined || branch.length > LONGEST_BRANCH || /\p{Cc}/u.test(branch) ? null : branch
}

/** Tells whether tracked files are changed; null where git takes too long, as it does in a very large checkout. */
async function isDirty(checkout: Checkout, signal?: AbortSignal): Promise<boolean | null> {
  const limit = AbortSignal.timeout(DIRTY_MS)
  const soon = signal === undefined ? limit : AbortSignal.any([signal, limit])
  try {
    const { output, failure } = await readStatus(checkout, await readFilters(checkout, soon), soon)
    if (failure !== null) return null
    return output.split('\0').some((entry) => entry !== '' && !entry.startsWith('#'))
  } catch (error) {
    if (limit.aborted) return null
    throw error
  }
}
