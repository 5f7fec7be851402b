import { searchedText } from './searched-text.ts'
import { type IndexedFile, openSegment } from './segment.ts'
import { createSegmentBuilder } from './segment-builder.ts'

/** Text that an index holds at most, and how long it is read, in milliseconds: other files are found by their path. */
const MOST_TEXT = 512 * 1024 * 1024
const READ_FOR_MS = 60_000

/** An index to be made. */
export interface IndexUpdate {
  root: string
  /** The files to be read. */
  stale: IndexedFile[]
  /** The index so far, and which of its files are taken over. */
  base: Uint8Array | null
  alive: Uint8Array
  /** Where the thread counts the files that it has read. */
  done: Int32Array
}

/** The index, and how many files it has without their text. */
export interface UpdatedIndex {
  bytes: Uint8Array
  unread: number
}

/** Makes the index. */
export function updateIndex({ root, stale, base, alive, done }: IndexUpdate): UpdatedIndex {
  const builder = createSegmentBuilder()
  const before = base === null ? null : openSegment(base)
  if (before) builder.addFrom(before, (_, i) => alive[i] === 1)
  const begun = performance.now()
  let left = MOST_TEXT
  let unread = 0
  for (const file of stale) {
    const isRead = left > 0 && performance.now() - begun < READ_FOR_MS
    const { text, isGenerated } = isRead ? searchedText(root, file.path) : { text: null, isGenerated: false }
    if (!isRead) unread++
    left -= text?.length ?? 0
    builder.add({ ...file, ...(isGenerated && { generated: true }) }, text)
    Atomics.add(done, 0, 1)
  }
  return { bytes: builder.finish(root), unread }
}
