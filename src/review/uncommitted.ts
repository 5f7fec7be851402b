import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Checkout } from '../repository/git-command.ts'
import { compareTrees } from './change.ts'
import type { Change } from './change-parts.ts'
import { askGit, resolveCommit } from './checkout.ts'

/** Reads the change that is staged: from the last commit to the tree that a commit would have now. */
export async function readStaged(checkout: Checkout): Promise<Change> {
  const base = await resolveCommit(checkout, 'HEAD')
  return compareTrees(checkout, base, { commit: null, tree: await treeOf(checkout) })
}

/**
 * Reads the change that a patch makes to the last commit. Neither the checkout nor its index changes.
 *
 * @param patch as `git diff` or `git format-patch` writes it
 * @throws GazewayError `not_found` with git's reason for one that does not apply
 */
export async function readPatched(checkout: Checkout, patch: string): Promise<Change> {
  const base = await resolveCommit(checkout, 'HEAD')
  const folder = await mkdtemp(join(tmpdir(), 'gazeway-patch-'))
  try {
    const apart = { ...checkout, index: join(folder, 'index') }
    await askGit(apart, ['read-tree', base.tree])
    await askGit(apart, ['apply', '--cached', '--whitespace=nowarn', '-'], patch)
    return await compareTrees(checkout, base, { commit: null, tree: await treeOf(apart) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const treeOf = async (checkout: Checkout): Promise<string> =>
  (await askGit(checkout, ['write-tree'])).toString('latin1').trim()
