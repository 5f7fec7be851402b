import { pack, unpack } from './packed.ts'

/** A file in the index. */
export interface IndexedFile {
  /** Relative to the root. */
  path: string
  /** Version key, new whenever the content changes. */
  key: string
  /** True when a marker in the text identifies a generated file. */
  generated?: true
  /** True when the index was full: the file is found by its path only. */
  unread?: boolean
  /** True when only the beginning of the file is searched. */
  cut?: true
  /** Number of this part of a long file, see `partsOf`; absent for the first. The parts of a file follow each other. */
  part?: number
}

/** Bits for the places of a term other than the text. */
export const IN = { folder: 1, name: 2, definition: 4 } as const

/** Posting list of a term: file numbers, and for each file occurrences in the text (up to 255) × 256 + {@link IN}. */
export interface Postings {
  files: Uint32Array
  marks: Uint16Array
}

/** An inverted index over some files of a project, as a view of packed bytes. */
export interface Segment {
  bytes: Uint8Array
  /** Absolute path of the project's root. */
  root: string
  files: IndexedFile[]
  /** Number of terms in the text of each file. */
  lengths: Uint32Array
  find(term: string): Postings | null
  /** All terms that start with `prefix`, in order. */
  startingWith(prefix: string): Generator<{ term: string; postings: Postings }>
}

/** Parts that a segment is packed from. */
export interface SegmentParts {
  root: string
  files: IndexedFile[]
  /** Sorted by UTF-16 code units. */
  terms: string[]
  /** Offset of the first posting of each term; the last element is the total. */
  starts: Uint32Array
  postings: Postings
  lengths: Uint32Array
}

/** Packs a segment. */
export function packSegment({ root, files, terms, starts, postings, lengths }: SegmentParts): Uint8Array {
  const text = Buffer.from(terms.join(''))
  const ends = new Uint32Array(terms.length + 1)
  let end = 0
  terms.forEach((term, i) => {
    end += Buffer.byteLength(term)
    ends[i + 1] = end
  })
  const parts = { text, ends, starts, files: postings.files, marks: postings.marks, lengths }
  return pack({ meta: { root, files }, parts: { ...parts, text: new Uint8Array(text) } })
}

/** Opens a packed segment; null when the bytes are damaged or of another format. */
export function openSegment(bytes: Uint8Array): Segment | null {
  const packed = unpack(bytes)
  if (packed === null) return null
  const { root, files } = packed.meta as Pick<SegmentParts, 'root' | 'files'>
  const {
    text,
    ends,
    starts,
    files: holders,
    marks,
    lengths,
  } = packed.parts as {
    text: Uint8Array
    ends: Uint32Array
    starts: Uint32Array
    files: Uint32Array
    marks: Uint16Array
    lengths: Uint32Array
  }
  const dictionary = Buffer.from(text.buffer as ArrayBuffer, text.byteOffset, text.byteLength)
  const count = ends.length - 1
  const termAt = (i: number) => dictionary.toString('utf8', ends[i], ends[i + 1])
  const postingsAt = (i: number): Postings => ({
    files: holders.subarray(starts[i], starts[i + 1]),
    marks: marks.subarray(starts[i], starts[i + 1]),
  })

  /** Binary search: the first term that is not before `term`. */
  function lowerBound(term: string): number {
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (termAt(middle) < term) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    bytes,
    root,
    files,
    lengths,
    find(term) {
      const i = lowerBound(term)
      return i < count && termAt(i) === term ? postingsAt(i) : null
    },
    *startingWith(prefix) {
      for (let i = lowerBound(prefix); i < count; i++) {
        const term = termAt(i)
        if (!term.startsWith(prefix)) return
        yield { term, postings: postingsAt(i) }
      }
    },
  }
}
