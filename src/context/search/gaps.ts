import type { LiveSegment } from './rank.ts'
import type { IndexedFile, Segment } from './segment.ts'

/** Files that a note names; it counts the others. */
const NAMED = 3

/** Names the files whose text is not searched, or not all of it, as notes for the caller. */
export function gapsOf(live: readonly LiveSegment[]): string[] {
  const files = live.flatMap(({ segment, alive }) => {
    const incomplete = incompleteFiles(segment)
    return incomplete.filter(({ number }) => alive[number] === 1).map(({ file }) => file)
  })
  const unread = files.filter((file) => file.unread).map(({ path }) => path)
  const cut = files.filter((file) => file.cut).map(({ path }) => path)
  return [
    ...(unread.length > 0 ? [`not searched, since the project is too large: ${named(unread)}`] : []),
    ...(cut.length > 0 ? [`searched in their first 4 MiB only: ${named(cut)}`] : []),
  ]
}

/** Names the first paths of a list, and counts the others. */
export function named(paths: readonly string[]): string {
  const shown = paths.slice(0, NAMED).join(', ')
  return paths.length > NAMED ? `${shown} and ${paths.length - NAMED} more` : shown
}

const known = new WeakMap<Segment, Array<{ file: IndexedFile; number: number }>>()

/** Lists the incomplete files of a segment. Computed once, since there may be 50,000 files. */
function incompleteFiles(segment: Segment): Array<{ file: IndexedFile; number: number }> {
  const made =
    known.get(segment) ??
    segment.files
      .map((file, number) => ({ file, number }))
      .filter(({ file: { part = 0, unread, cut } }) => part === 0 && (unread || cut))
  known.set(segment, made)
  return made
}
