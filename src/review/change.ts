import { createHash } from 'node:crypto'
import type { Checkout } from '../repository/git-command.ts'
import { contentItem, deletedItem, modeItem, movedItem } from './acknowledged-items.ts'
import type { Change, Head, Part, Side } from './change-parts.ts'
import { askGit, readBlobs, resolveCommit } from './checkout.ts'
import { hunksOf } from './hunks.ts'
import { type ChangedPath, type Entry, parseRawChange } from './raw-change.ts'

const SUBMODULE = '160000'
const PLAIN_FILE = '100644'

/**
 * Reads the canonical change between two revisions. It depends on both trees alone: attributes, text conversions,
 * replaced objects, `.gitmodules` and configuration do not apply, renames are not guessed.
 *
 * @throws GazewayError `not_found` for an unknown revision, or where the repository lacks a file of it
 */
export async function readChange(
  checkout: Checkout,
  baseRevision: string,
  headRevision: string,
): Promise<Change & { head: Side }> {
  const [base, head] = await Promise.all([resolveCommit(checkout, baseRevision), resolveCommit(checkout, headRevision)])
  return compareTrees(checkout, base, head)
}

/** Reads the canonical change from one tree to another, see {@link readChange}. */
export async function compareTrees<To extends Head>(
  checkout: Checkout,
  base: Side,
  head: To,
): Promise<Change & { head: To }> {
  const flags = ['-r', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none', '-z']
  const raw = await askGit(checkout, ['diff-tree', ...flags, base.tree, head.tree])
  const changed = parseRawChange(raw)
  const moves = movesIn(changed)
  const moved = new Set([...moves].flat())
  const compared = changed.filter((path) => !moved.has(path))
  const contents = await readBlobs(checkout, compared.flatMap(blobsOf))
  const parts = changed.flatMap((path) => {
    const from = moves.get(path)
    if (from !== undefined) return [movedItem(from, path)]
    return moved.has(path) ? [] : partsOf(path, contents)
  })
  return { base, head, digest: createHash('sha256').update(raw).digest('hex'), parts }
}

/** Finds files that went to another path as they are, by their new path. A file with several possible paths is none. */
function movesIn(changed: readonly ChangedPath[]): Map<ChangedPath, ChangedPath> {
  const removed = byContent(changed, (path) => (path.new === null ? path.old : null))
  const added = byContent(changed, (path) => (path.old === null ? path.new : null))
  const moves = new Map<ChangedPath, ChangedPath>()
  for (const [content, [to, ...others]] of added) {
    const [from, ...more] = removed.get(content) ?? []
    if (to && from && others.length === 0 && more.length === 0) moves.set(to, from)
  }
  return moves
}

function byContent(
  changed: readonly ChangedPath[],
  side: (path: ChangedPath) => Entry | null,
): Map<string, ChangedPath[]> {
  const found = new Map<string, ChangedPath[]>()
  for (const path of changed) {
    const entry = side(path)
    if (entry === null) continue
    const content = `${entry.mode} ${entry.oid}`
    found.set(content, [...(found.get(content) ?? []), path])
  }
  return found
}

const blobsOf = ({ old, new: now }: ChangedPath): string[] =>
  [old, now].flatMap((entry) => (entry === null || entry.mode === SUBMODULE ? [] : [entry.oid]))

function partsOf(path: ChangedPath, contents: ReadonlyMap<string, string | null>): Part[] {
  const { old, new: now } = path
  if (old?.mode === SUBMODULE || now?.mode === SUBMODULE) return [contentItem('submodule', path)]
  const isSameMode = now === null || (old?.mode ?? PLAIN_FILE) === now.mode
  const modes = isSameMode ? [] : [modeItem(path)]
  if (old?.oid === now?.oid) return modes
  const oldContent = old === null ? '' : contents.get(old.oid)
  const newContent = now === null ? '' : contents.get(now.oid)
  if (oldContent == null || newContent == null) return [...modes, contentItem('large', path)]
  if (oldContent.includes('\0') || newContent.includes('\0')) return [...modes, contentItem('binary', path)]
  const hunks = hunksOf(path.path, oldContent, newContent)
  // The hunks of a file that is gone and of one that became empty are the same: what is left of them tells them apart.
  if (now === null && hunks.length > 0) return [deletedItem(path), ...hunks]
  return [...modes, ...(newContent === '' || hunks.length === 0 ? [contentItem('empty', path)] : []), ...hunks]
}
