import { writeIndexFile } from './index-file.ts'
import { searchedText } from './searched-text.ts'
import { type IndexedFile, openSegment } from './segment.ts'
import { createSegmentBuilder } from './segment-builder.ts'

/** Maximum number of terms of texts in an index, about 200 MB. Further files are found by their path only. */
const MAX_TERMS = 40_000_000
/** Time limit for reading files. The next update reads the rest. */
const READ_FOR_MS = 60_000

/** Input of an index update. */
export interface IndexUpdate {
  root: string
  stale: IndexedFile[]
  /** The previous index, and which of its files to copy (1 in `alive`). */
  base: Uint8Array | null
  alive: Uint8Array
  /** Shared counter of the files that the worker thread has read. */
  done: Int32Array
  /** File to save the index to; null for none. */
  file: string | null
}

/** The packed index. `fault`: error that prevented saving it, or null. */
export interface UpdatedIndex {
  bytes: Uint8Array
  fault: string | null
}

/** Builds the index and saves it. */
export function updateIndex({ root, stale, base, alive, done, file: keptIn }: IndexUpdate): UpdatedIndex {
  const builder = createSegmentBuilder()
  const before = base === null ? null : openSegment(base)
  if (before) builder.addFrom(before, (_, i) => alive[i] === 1)
  const begun = performance.now()
  for (const file of stale) {
    if (performance.now() - begun > READ_FOR_MS) break
    if (builder.terms() < MAX_TERMS) {
      const { text, ...marks } = searchedText(root, file.path)
      builder.add({ ...file, ...marks }, text)
    } else builder.add({ ...file, unread: true }, null)
    Atomics.add(done, 0, 1)
  }
  const bytes = builder.finish(root)
  return { bytes, fault: keptIn === null ? null : keep(keptIn, bytes) }
}

/** Saves the index. Returns an error message (disk full, folder not writable): this process can still use the index. */
function keep(file: string, bytes: Uint8Array): string | null {
  try {
    writeIndexFile(file, bytes)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
