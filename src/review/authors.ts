import { GazewayError } from '../errors.ts'
import type { Checkout } from '../repository/git-command.ts'
import { askGit } from './checkout.ts'

/** Trailer of a co-author, which may be folded. */
const TRAILER = /^co-authored-by[ \t]*:(?:[^\n<]|\n[ \t])*<([^<>\n]+)>/gim

/**
 * Lists the addresses of those who wrote the commits of a range: authors, and co-authors by trailer, in lower case.
 * Committers are not among them, as a merge queue or a rebase has its own. `.mailmap` does not apply: the range may change it.
 *
 * @throws GazewayError `not_found` where the clone is too shallow to have all commits of the range
 */
export async function authorsIn(checkout: Checkout, base: string, head: string): Promise<Set<string>> {
  const log = await askGit(checkout, ['log', '--format=%H%x00%P%x00%ae%x00%B%x00', `${base}..${head}`])
  const fields = log.toString().split('\0')
  const addresses = new Set<string>()
  const ends: string[] = []
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [commit = '', parents, author = '', message = ''] = fields.slice(at, at + 4)
    if (parents === '') ends.push(commit.trim())
    for (const address of [author, ...[...message.matchAll(TRAILER)].map(([, written = '']) => written)])
      if (address.trim() !== '') addresses.add(address.trim().toLowerCase())
  }
  await requireFirst(checkout, ends)
  return addresses
}

/** Checks that commits have no parent: in a shallow clone, git omits those that were not fetched. */
async function requireFirst(checkout: Checkout, commits: readonly string[]): Promise<void> {
  for (const commit of commits) {
    const [head = ''] = (await askGit(checkout, ['cat-file', 'commit', commit])).toString('latin1').split('\n\n')
    if (!/^parent /m.test(head)) continue
    const message = `Commits before ${commit} were not fetched, and not_author needs the authors of all. Fetch the whole range.`
    throw new GazewayError('not_found', message)
  }
}
