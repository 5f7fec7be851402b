import { definitionsIn } from './definitions.ts'
import { referencesIn, referenceTerm } from './references.ts'
import { IN, type IndexedFile, packSegment, type Segment } from './segment.ts'
import { detached, eachRun, termsOfRun } from './terms.ts'

/** Maximum number of occurrences of a term that are counted in one file. */
const MAX_OCCURRENCES = 255
/** Maximum number of runs whose terms are cached. */
const REMEMBERED = 1_000_000

/** Builds a segment from files, one by one. */
export interface SegmentBuilder {
  /** @param text null when only the path is indexed */
  add(file: IndexedFile, text: string | null): void
  /** Copies files from another segment. */
  addFrom(segment: Segment, isKept: (file: IndexedFile, number: number) => boolean): void
  /** Number of terms in the texts so far. */
  terms(): number
  /** The packed segment. */
  finish(root: string): Uint8Array
}

/** Creates an empty segment builder. */
export function createSegmentBuilder(): SegmentBuilder {
  const numbers = new Map<string, number>()
  const files: IndexedFile[] = []
  const lengths = growing(1024)
  /** One entry for each term of each file, in the order of the files. */
  const entries = { term: growing(1 << 16), file: growing(1 << 16), mark: growing(1 << 16) }
  /** Marks of the current file by term number: occurrences × 256 + places. */
  let marks = new Uint32Array(1 << 12)
  let touched: number[] = []
  let total = 0
  /** Cache: the term numbers of each run, because texts repeat their words. */
  const runs = new Map<string, number[]>()

  function numberOf(term: string): number {
    const known = numbers.get(term)
    if (known !== undefined) return known
    const number = numbers.size
    numbers.set(term, number)
    if (number >= marks.length) {
      const wider = new Uint32Array(marks.length * 2)
      wider.set(marks)
      marks = wider
    }
    return number
  }

  function numbersOf(run: string): number[] {
    const known = runs.get(run)
    if (known) return known
    const { parts, whole } = termsOfRun(run)
    const made = [...parts, ...(whole === null ? [] : [whole])].map(numberOf)
    if (runs.size >= REMEMBERED) runs.clear()
    runs.set(detached(run), made)
    return made
  }

  function mark(number: number, by: number): void {
    const before = marks[number] ?? 0
    if (before === 0) touched.push(number)
    marks[number] = by < 256 ? before | by : before + by
  }

  function markAll(text: string, place: number): void {
    eachRun(text, (run) => {
      for (const number of numbersOf(run)) mark(number, place)
    })
  }

  function close(file: IndexedFile, length: number): void {
    const number = files.length
    files.push(file)
    lengths.push(length)
    total += length
    for (const term of touched) {
      const held = marks[term] ?? 0
      const occurrences = Math.min(MAX_OCCURRENCES, held >>> 8)
      entries.term.push(term)
      entries.file.push(number)
      entries.mark.push((occurrences << 8) | (held & 255))
      marks[term] = 0
    }
    touched = []
  }

  return {
    terms: () => total,

    add(file, text) {
      const slash = file.path.lastIndexOf('/')
      markAll(file.path.slice(0, slash + 1), IN.folder)
      markAll(file.path.slice(slash + 1), IN.name)
      let length = 0
      if (text !== null) {
        eachRun(text, (run) => {
          for (const number of numbersOf(run)) {
            mark(number, 256)
            length++
          }
        })
        for (const { name } of definitionsIn(text, file.path)) markAll(name, IN.definition)
        for (const name of referencesIn(text, file.path)) mark(numberOf(referenceTerm(name)), 256)
      }
      close(file, length)
    },

    addFrom(segment, isKept) {
      const moved = segment.files.map((file, i) => (isKept(file, i) ? 1 : 0))
      const renumbered = new Uint32Array(moved.length)
      moved.forEach((kept, i) => {
        if (kept === 0) return
        renumbered[i] = files.length
        files.push(segment.files[i] as IndexedFile)
        lengths.push(segment.lengths[i] ?? 0)
        total += segment.lengths[i] ?? 0
      })
      for (const { term, postings } of segment.startingWith('')) {
        let number = -1
        for (let i = 0; i < postings.files.length; i++) {
          const file = postings.files[i] ?? 0
          if (moved[file] !== 1) continue
          if (number === -1) number = numberOf(term)
          entries.term.push(number)
          entries.file.push(renumbered[file] ?? 0)
          entries.mark.push(postings.marks[i] ?? 0)
        }
      }
    },

    finish(root) {
      const unsorted = [...numbers.keys()]
      const terms = [...unsorted].sort()
      const rank = new Uint32Array(terms.length)
      terms.forEach((term, i) => {
        rank[numbers.get(term) ?? 0] = i
      })
      const term = entries.term.taken()
      const starts = new Uint32Array(terms.length + 1)
      for (const number of term) {
        const at = (rank[number] ?? 0) + 1
        starts[at] = (starts[at] ?? 0) + 1
      }
      for (let i = 0; i < terms.length; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0)
      const next = starts.slice()
      const postings = { files: new Uint32Array(term.length), marks: new Uint16Array(term.length) }
      const file = entries.file.taken()
      const mark = entries.mark.taken()
      for (let i = 0; i < term.length; i++) {
        const ranked = rank[term[i] ?? 0] ?? 0
        const at = next[ranked] ?? 0
        next[ranked] = at + 1
        postings.files[at] = file[i] ?? 0
        postings.marks[at] = mark[i] ?? 0
      }
      return packSegment({ root, files, terms, starts, postings, lengths: lengths.taken() })
    },
  }
}

/** A list of numbers that grows by doubling. */
function growing(size: number) {
  let numbers = new Uint32Array(size)
  let length = 0
  return {
    push(number: number): void {
      if (length === numbers.length) {
        const wider = new Uint32Array(length * 2)
        wider.set(numbers)
        numbers = wider
      }
      numbers[length++] = number
    },
    taken: () => numbers.subarray(0, length),
  }
}
