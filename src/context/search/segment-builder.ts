import { definitionsIn } from './definitions.ts'
import { referencesIn, referenceTerm } from './references.ts'
import { IN, type IndexedFile, packSegment, type Segment, type SegmentParts } from './segment.ts'
import { detached, eachRun, termsOfRun } from './terms.ts'
import { partsOf } from './text-parts.ts'

/** Maximum number of occurrences of a term that are counted in one file. */
const MAX_OCCURRENCES = 255
/** Mark of one occurrence in the text; places are below it. */
const OCCURRENCE = 256
/** Maximum number of runs whose terms are cached. */
const REMEMBERED = 1_000_000

/** Builds a segment from files, one by one. */
export interface SegmentBuilder {
  /** Adds a file, a long one in parts. @param text null when only the path is indexed */
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
  const { numbers, numberOf, numbersOf } = createTermNumbers()
  const files: IndexedFile[] = []
  const lengths = growing(1024)
  const { entries, addEntry } = createEntries()
  const marks = createFileMarks()
  let total = 0

  function addFile(file: IndexedFile, length: number): number {
    lengths.push(length)
    total += length
    return files.push(file) - 1
  }

  function markAll(text: string, place: number): void {
    eachRun(text, (run) => {
      for (const number of numbersOf(run)) marks.add(number, place)
    })
  }

  /** Marks the terms of a text. @returns their number */
  function markText(text: string, path: string): number {
    let length = 0
    eachRun(text, (run) => {
      for (const number of numbersOf(run)) {
        marks.add(number, OCCURRENCE)
        length++
      }
    })
    for (const { name } of definitionsIn(text, path)) markAll(name, IN.definition)
    for (const name of referencesIn(text, path)) marks.add(numberOf(referenceTerm(name)), OCCURRENCE)
    return length
  }

  function addPart(file: IndexedFile, text: string | null): void {
    const slash = file.path.lastIndexOf('/')
    markAll(file.path.slice(0, slash + 1), IN.folder)
    markAll(file.path.slice(slash + 1), IN.name)
    const number = addFile(file, text === null ? 0 : markText(text, file.path))
    marks.take((term, mark) => addEntry(term, number, mark))
  }

  return {
    terms: () => total,

    add(file, text) {
      if (text === null) return addPart(file, null)
      for (const [i, part] of partsOf(text).entries()) addPart(i === 0 ? file : { ...file, part: i }, part.text)
    },

    addFrom(segment, isKept) {
      const renumbered = segment.files.map((file, i) =>
        isKept(file, i) ? addFile(file, segment.lengths[i] ?? 0) : null,
      )
      for (const { term, postings } of segment.startingWith('')) {
        let number = -1
        for (let i = 0; i < postings.files.length; i++) {
          const file = renumbered[postings.files[i] ?? 0] ?? null
          if (file === null) continue
          if (number === -1) number = numberOf(term)
          addEntry(number, file, postings.marks[i] ?? 0)
        }
      }
    },

    finish: (root) => packSegment({ root, files, ...sortedByTerm(numbers, entries), lengths: lengths.taken() }),
  }
}

/** Numbers the terms in the order in which they are met. */
function createTermNumbers() {
  const numbers = new Map<string, number>()
  /** Cache: the term numbers of each run, because texts repeat their words. */
  const runs = new Map<string, number[]>()

  function numberOf(term: string): number {
    const known = numbers.get(term)
    if (known !== undefined) return known
    numbers.set(term, numbers.size)
    return numbers.size - 1
  }

  return {
    numbers: numbers as ReadonlyMap<string, number>,
    numberOf,
    /** Numbers of the terms of a run. */
    numbersOf(run: string): number[] {
      const known = runs.get(run)
      if (known) return known
      const { parts, whole } = termsOfRun(run)
      const made = [...parts, ...(whole === null ? [] : [whole])].map(numberOf)
      if (runs.size >= REMEMBERED) runs.clear()
      runs.set(detached(run), made)
      return made
    },
  }
}

/** Marks of the current file by term number: occurrences × 256 + places. */
function createFileMarks() {
  let marks = new Uint32Array(1 << 12)
  let touched: number[] = []

  return {
    /** @param by a place, or {@link OCCURRENCE} */
    add(number: number, by: number): void {
      if (number >= marks.length) marks = widened(marks, number + 1)
      const before = marks[number] ?? 0
      if (before === 0) touched.push(number)
      marks[number] = by === OCCURRENCE ? before + by : before | by
    },
    /** Calls `each` with the marks of the file, then forgets them. */
    take(each: (term: number, mark: number) => void): void {
      for (const term of touched) {
        const mark = marks[term] ?? 0
        each(term, (Math.min(MAX_OCCURRENCES, mark >>> 8) << 8) | (mark & 255))
        marks[term] = 0
      }
      touched = []
    },
  }
}

/** One entry for each term of each file, in the order of the files. */
type Entries = Record<'term' | 'file' | 'mark', ReturnType<typeof growing>>

function createEntries() {
  const entries: Entries = { term: growing(1 << 16), file: growing(1 << 16), mark: growing(1 << 16) }
  function addEntry(term: number, file: number, mark: number): void {
    entries.term.push(term)
    entries.file.push(file)
    entries.mark.push(mark)
  }
  return { entries, addEntry }
}

/** Sorts the terms, and the entries by term (counting sort). */
function sortedByTerm(
  numbers: ReadonlyMap<string, number>,
  entries: Entries,
): Pick<SegmentParts, 'terms' | 'starts' | 'postings'> {
  const terms = [...numbers.keys()].sort()
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
  return { terms, starts, postings }
}

/** Copies numbers to a list of twice the length, or longer. */
function widened(numbers: Uint32Array<ArrayBuffer>, least: number): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(Math.max(2 * numbers.length, least))
  wider.set(numbers)
  return wider
}

/** A list of numbers that grows by doubling. */
function growing(size: number) {
  let numbers = new Uint32Array(size)
  let length = 0
  return {
    push(number: number): void {
      if (length === numbers.length) numbers = widened(numbers, length + 1)
      numbers[length++] = number
    },
    taken: () => numbers.subarray(0, length),
  }
}
