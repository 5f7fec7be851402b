import type { Checkout } from '../context/git-command.ts'
import { askGit } from './checkout.ts'

const TRAILER = /^co-authored-by:.*<([^<>]+)>\s*$/gim

/**
 * Lists the addresses of those who wrote the commits of a range: authors, and co-authors by trailer, in lower case.
 * Committers are not among them, as a merge queue or a rebase has its own. `.mailmap` does not apply: the range may change it.
 */
export async function authorsIn(checkout: Checkout, base: string, head: string): Promise<Set<string>> {
  const log = await askGit(checkout, ['log', '--format=%ae%x00%B%x00', `${base}..${head}`])
  const fields = log.toString().split('\0')
  const addresses = fields.flatMap((field, index) =>
    index % 2 === 0 ? [field.trim()] : [...field.matchAll(TRAILER)].map(([, address = '']) => address),
  )
  return new Set(addresses.filter((address) => address !== '').map((address) => address.toLowerCase()))
}
