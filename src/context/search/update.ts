import { writeIndexFile } from './index-file.ts'
import { searchedText } from './searched-text.ts'
import { type IndexedFile, openSegment } from './segment.ts'
import { createSegmentBuilder } from './segment-builder.ts'

/** Terms of texts that an index holds, some 200 MB: further files are found by their path. */
const MOST_TERMS = 40_000_000
/** Time limit for reading files; the rest is read by the next update. */
const READ_FOR_MS = 60_000

/** An index to be made. */
export interface IndexUpdate {
  root: string
  /** The files to be read. */
  stale: IndexedFile[]
  /** The index so far, and which of its files are taken over. */
  base: Uint8Array | null
  alive: Uint8Array
  /** Shared counter of the files that the thread has read. */
  done: Int32Array
  /** The file that the index is saved to; null for none. */
  file: string | null
}

/** The index, and why it could not be kept, if so. */
export interface UpdatedIndex {
  bytes: Uint8Array
  fault: string | null
}

/** Makes the index and keeps it. */
export function updateIndex({ root, stale, base, alive, done, file: keptIn }: IndexUpdate): UpdatedIndex {
  const builder = createSegmentBuilder()
  const before = base === null ? null : openSegment(base)
  if (before) builder.addFrom(before, (_, i) => alive[i] === 1)
  const begun = performance.now()
  for (const file of stale) {
    if (performance.now() - begun > READ_FOR_MS) break
    if (builder.terms() < MOST_TERMS) {
      const { text, isGenerated } = searchedText(root, file.path)
      builder.add({ ...file, ...(isGenerated && { generated: true }) }, text)
    } else builder.add({ ...file, unread: true }, null)
    Atomics.add(done, 0, 1)
  }
  const bytes = builder.finish(root)
  return { bytes, fault: keptIn === null ? null : keep(keptIn, bytes) }
}

/** Saves the index. A failure (disk full, folder not writable) is returned: this process can use the index anyway. */
function keep(file: string, bytes: Uint8Array): string | null {
  try {
    writeIndexFile(file, bytes)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
