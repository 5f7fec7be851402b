import { createHash } from 'node:crypto'
import type { Checkout } from '../repository/git-command.ts'
import { askGit, resolveCommit } from './checkout.ts'
import { notesIn } from './notes.ts'
import { type OpenedReceipt, receiptsIn } from './receipt.ts'

/** Writes the trailer that names a receipt, by the digest of its statement: signing it does not change the digest. */
export const trailerOf = (payload: Buffer): string => `Gazeway-Review: sha256:${hexOf(payload)}`

const TRAILER = /^gazeway-review:[ \t]*sha256:([0-9a-f]{64})[ \t]*$/gim

const hexOf = (payload: Buffer): string => createHash('sha256').update(payload).digest('hex')

/** The commits of a range, and their trailers. */
interface NamedReceipts {
  commits: Set<string>
  /** Digests that a merge or a squash names. */
  digests: Set<string>
  /** Ordinary commits with a trailer, which names nothing there. */
  ordinary: string[]
}

/**
 * Reads which receipts the commits of a range name. A trailer stands on a merge, or on the only commit of the range, as a
 * squash lands. On another commit it counts for nothing: it would change the commit that it speaks of.
 */
export async function receiptsNamedIn(checkout: Checkout, base: string, head: string): Promise<NamedReceipts> {
  const [from, to] = await Promise.all([resolveCommit(checkout, base), resolveCommit(checkout, head)])
  const log = await askGit(checkout, ['log', '--format=%H%x00%P%x00%B%x00', `${from.commit}..${to.commit}`])
  const fields = log.toString().split('\0')
  const named: NamedReceipts = { commits: new Set(), digests: new Set(), ordinary: [] }
  const isSquash = fields.length === 4
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [commit, parents, message] = fields.slice(at, at + 3) as [string, string, string]
    named.commits.add(commit.trim())
    const digests = [...message.matchAll(TRAILER)].map(([, digest = '']) => digest)
    if (isSquash || parents.includes(' ')) for (const digest of digests) named.digests.add(digest)
    else if (digests.length > 0) named.ordinary.push(commit.trim())
  }
  return named
}

/** Receipts that were found, and for each note with something else, why that is none. */
interface FoundReceipts {
  receipts: OpenedReceipt[]
  faults: string[]
}

/**
 * Finds the receipts of a range: those in the notes of its commits, and those whose digests its trailers name, in any note of
 * `refs/notes/reviews` and in more texts.
 */
export async function findReceipts(
  checkout: Checkout,
  { commits, digests }: Pick<NamedReceipts, 'commits' | 'digests'>,
  more: readonly string[],
): Promise<FoundReceipts> {
  const found: FoundReceipts = { receipts: [], faults: [] }
  const isNamed = ({ payload }: OpenedReceipt) => digests.has(hexOf(payload))
  for (const text of more) found.receipts.push(...receiptsIn(text, '').receipts.filter(isNamed))
  for await (const { commits: of, text } of notesIn(checkout, (commit) => digests.size > 0 || commits.has(commit))) {
    const own = of.find((commit) => commits.has(commit))
    const { receipts, fault } = receiptsIn(text, `The note of ${own?.slice(0, 10)}`)
    found.receipts.push(...(own === undefined ? receipts.filter(isNamed) : receipts))
    if (own !== undefined && fault !== null) found.faults.push(fault)
  }
  return found
}

/** Lists the digests that none of these receipts has. */
export function missingAmong(digests: ReadonlySet<string>, receipts: readonly OpenedReceipt[]): string[] {
  const found = new Set(receipts.map(({ payload }) => hexOf(payload)))
  return [...digests].filter((digest) => !found.has(digest))
}
