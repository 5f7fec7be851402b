import { createHash } from 'node:crypto'
import { type Checkout, git } from '../context/git-command.ts'
import { askGit, readBlobs, resolveCommit } from './checkout.ts'
import { type OpenedReceipt, receiptsWith } from './receipt.ts'

/** Reference of the notes that bring receipts along. */
export const RECEIPT_NOTES = 'refs/notes/reviews'

/** Writes the trailer that names a receipt, by the digest of its statement: signing it does not change the digest. */
export const trailerOf = (payload: Buffer): string => `Gazeway-Review: sha256:${hexOf(payload)}`

const TRAILER = /^gazeway-review:[ \t]*sha256:([0-9a-f]{64})[ \t]*$/gim

const hexOf = (payload: Buffer): string => createHash('sha256').update(payload).digest('hex')

/** The trailers of a range. */
interface NamedReceipts {
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
  const named: NamedReceipts = { digests: new Set(), ordinary: [] }
  const isSquash = fields.length === 4
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [commit, parents, message] = fields.slice(at, at + 3) as [string, string, string]
    const digests = [...message.matchAll(TRAILER)].map(([, digest = '']) => digest)
    if (isSquash || parents.includes(' ')) for (const digest of digests) named.digests.add(digest)
    else if (digests.length > 0) named.ordinary.push(commit.trim())
  }
  return named
}

/** Finds receipts by the digests of their statements, in all notes of `refs/notes/reviews` and in more texts. */
export async function findReceipts(
  checkout: Checkout,
  digests: ReadonlySet<string>,
  more: readonly string[],
): Promise<OpenedReceipt[]> {
  if (digests.size === 0) return []
  const texts = [...more, ...(await notesOf(checkout))]
  return texts.flatMap((text) => receiptsWith(text, (payload) => digests.has(hexOf(payload))))
}

/** Lists the digests that none of these receipts has. */
export function missingAmong(digests: ReadonlySet<string>, receipts: readonly OpenedReceipt[]): string[] {
  const found = new Set(receipts.map(({ payload }) => hexOf(payload)))
  return [...digests].filter((digest) => !found.has(digest))
}

async function notesOf(checkout: Checkout): Promise<string[]> {
  const { failure } = await git(checkout, ['rev-parse', '--verify', '--quiet', RECEIPT_NOTES])
  if (failure !== null) return []
  const tree = await askGit(checkout, ['ls-tree', '-r', '-z', '--full-tree', RECEIPT_NOTES])
  const entries = tree.toString('latin1').split('\0')
  const oids = entries.flatMap((entry) => /^\d{6} blob ([0-9a-f]+)\t/.exec(entry)?.slice(1) ?? [])
  const contents = await readBlobs(checkout, oids)
  return [...contents.values()].flatMap((content) =>
    content === null ? [] : [Buffer.from(content, 'latin1').toString()],
  )
}
