import { GazewayError } from '../errors.ts'
import type { Checkout } from '../repository/git-command.ts'
import { plain } from '../text/single-line.ts'
import { answerOf, askGit, blobBatches } from './checkout.ts'

/** Reference of the notes that bring receipts along. */
export const RECEIPT_NOTES = 'refs/notes/reviews'

/** A note of `refs/notes/reviews`. */
export interface Note {
  commits: readonly string[]
  text: string
}

/**
 * Reads the notes that bring receipts along, a few at once. A note of more than 4 MiB is omitted.
 *
 * @param isWanted tells whether the note of a commit is wanted; all by default
 * @throws GazewayError `not_found` where git cannot read them
 */
export async function* notesIn(
  checkout: Checkout,
  isWanted: (commit: string) => boolean = () => true,
): AsyncGenerator<Note> {
  const { output, warnings } = await answerOf(checkout, ['for-each-ref', '--format=%(objectname)', RECEIPT_NOTES])
  // Git lists what it cannot read as nothing.
  if (/broken ref/.test(warnings))
    throw new GazewayError('not_found', `The notes were not read: ${plain(warnings.trim())}.`)
  const [tip] = output.toString().split('\n')
  if (!tip) return
  const tree = await askGit(checkout, ['ls-tree', '-r', '-z', '--full-tree', tip])
  const commits = new Map<string, string[]>()
  for (const entry of tree.toString('latin1').split('\0')) {
    const [, oid, path = ''] = /^\d{6} blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? []
    // Where there are many, git puts them into folders: `ab/cdef…`.
    const commit = path.replaceAll('/', '')
    if (oid !== undefined && isWanted(commit)) commits.set(oid, [...(commits.get(oid) ?? []), commit])
  }
  for await (const batch of blobBatches(checkout, commits.keys()))
    for (const [oid, content] of batch)
      if (content !== null) yield { commits: commits.get(oid) ?? [], text: Buffer.from(content, 'latin1').toString() }
}
