import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { type JournalLine, partOf } from './journal-file.ts'

/** Bytes of a part, after which the next one begins once the store has all of the part before. */
const PART_BYTES = 1024 * 1024
/** Bytes of a part that is not continued, because the store takes nothing for too long. */
const MOST_BYTES = 64 * 1024 * 1024

/** A file of a journal. */
interface JournalPart {
  path: string
  file: number
  bytes: number
  /** Lines that the store may not have yet. */
  waiting: number
}

/** Files of a journal, of which one is written, and the one before is kept while the store may lack lines of it. */
interface JournalParts {
  /** Begins the first part in a folder. @throws the system's error */
  open(folder: string): void
  /** The folder. Null before it is opened, once it is closed, and after a line could not be written. */
  folder(): string | null
  /** Writes a line. Null when the journal is not open, or not any more. */
  append(line: JournalLine): JournalPart | null
  /** Deletes a part before this one, once the store has all of it. */
  settle(part: JournalPart): void
  /** True when the store has all lines. */
  areStored(): boolean
  /** Deletes the parts, and ends. */
  drop(): void
  /** Leaves the parts as they are, and ends. */
  close(): void
}

/** Dependencies of {@link createJournalParts}. */
interface JournalPartsDeps {
  /** Name of the process. */
  holder: string
  /** Reads the lines that each part begins with. */
  firstLines: () => readonly object[]
  /** Called when a line cannot be written. */
  onError: (error: unknown) => void
}

/** Creates the parts of a process's journal. */
export function createJournalParts({ holder, firstLines, onError }: JournalPartsDeps): JournalParts {
  let folder: string | null = null
  let number = 0
  /** The part that is written, and the one before while the store may lack lines of it. */
  let part: JournalPart | null = null
  let before: JournalPart | null = null

  function begin(): JournalPart {
    return newPart(partOf(folder as string, holder, number++), firstLines())
  }

  /** Ends a journal that lacks lines, or is not needed: one that lacks lines would prove too little to be spent. */
  function drop(): void {
    for (const dropped of [part, before]) if (dropped) remove(dropped)
    part = null
    before = null
    folder = null
  }

  /** Begins the next part when this one is long, and the first one when nothing waits for the store. */
  function turn(): void {
    if (part === null) part = begin()
    if (part.bytes < PART_BYTES) return
    if (before === null) {
      const next = begin()
      before = part
      part = next
      settle(before)
    } else if (part.bytes >= MOST_BYTES) throw new RangeError('The store takes nothing for too long.')
  }

  function settle(done: JournalPart): void {
    if (done.waiting > 0 || done !== before) return
    before = null
    remove(done)
  }

  return {
    open(at) {
      folder = at
      part = begin()
    },
    folder: () => folder,
    append(line) {
      if (folder === null) return null
      try {
        turn()
        write(part as JournalPart, line)
        return part
      } catch (error) {
        drop()
        onError(error)
        return null
      }
    },
    settle,
    areStored: () => part?.waiting === 0 && before === null,
    drop,
    close() {
      for (const kept of [part, before]) if (kept) closeSync(kept.file)
      folder = null
    },
  }
}

function newPart(path: string, lines: readonly object[]): JournalPart {
  const part = { path, file: openSync(path, 'wx', 0o600), bytes: 0, waiting: 0 }
  try {
    for (const line of lines) write(part, line)
    return part
  } catch (error) {
    // What lacks lines would prove that their amounts were not spent.
    remove(part)
    throw error
  }
}

function write(to: JournalPart, line: object): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
  for (let from = 0; from < bytes.length; ) from += writeSync(to.file, bytes, from)
  to.bytes += bytes.length
}

function remove({ file, path }: JournalPart): void {
  closeSync(file)
  rmSync(path, { force: true })
}
