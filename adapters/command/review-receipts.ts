import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkout } from '../../src/repository/git-command.ts'
import { askGit } from '../../src/review/checkout.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'

/** Returns the folder of the receipts that `gazeway review` writes: in the folder of git, which all worktrees share. */
export async function receiptFolder(checkout: Checkout): Promise<string> {
  return join(await commonFolder(checkout), 'gazeway', 'reviews')
}

/** Lists the receipts that `gazeway review` wrote for a repository. */
export async function writtenReceipts(checkout: Checkout): Promise<string[]> {
  const folder = await receiptFolder(checkout)
  const names = (await readdir(folder).catch(nullIfMissing)) ?? []
  return names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name))
}

/** Returns the folder of git that all worktrees share. */
export async function commonFolder(checkout: Checkout): Promise<string> {
  const folder = await askGit(checkout, ['rev-parse', '--path-format=absolute', '--git-common-dir'])
  return folder.toString().trim()
}
