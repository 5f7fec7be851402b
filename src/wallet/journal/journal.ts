import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import type { QueuedCall } from '../../calls/queued-call.ts'
import { lazily } from '../../lazily.ts'
import { makeFolder } from '../../store/make-folder.ts'
import type { ProcessLock } from '../../store/sqlite/process-lock.ts'
import type { Micros } from '../../text/money.ts'
import type { NotedCharge } from '../receipts/store-receipts.ts'
import { callLine, header, type JournalLine, lockOf, partOf } from './journal-file.ts'

/** Bytes of a part, after which the next one begins once the store has all of the part before. */
const PART_BYTES = 1024 * 1024
/** Bytes of a part that is not continued, because the store takes nothing for too long. */
const MOST_BYTES = 64 * 1024 * 1024

const loadLock = lazily(() => import('../../store/sqlite/process-lock.ts'))

/**
 * Journal of a process: what its calls cost that the store may not have yet, and how much of its allowances calls may
 * spend. It proves, after the process was killed, what was spent and what was not, see `recover.ts`.
 *
 * - A line is written before the answer of its call ends, and not flushed to the disk: it survives the process, not the
 *   machine.
 * - It has no secrets and no texts, and only this user can read it.
 */
export interface Journal {
  /** Name of the process in the store. */
  holder: string
  /**
   * Begins the journal in a folder.
   *
   * @throws the system's error
   */
  open(folder: string): Promise<void>
  /** Notes that calls may spend at most `micros` of an allowance from here on. */
  mark(allowanceId: string, micros: Micros): void
  /**
   * Notes a call that a limit holds for.
   *
   * @returns called once the store has it; null when it was not noted
   */
  noteCall(call: QueuedCall, callerId: string | null): (() => void) | null
  /** Notes what is about to be charged. @returns as {@link Journal.noteCall} */
  noteCharge(charge: NotedCharge): (() => void) | null
  /** Ends the journal. Deletes it when the store has all of it and no call is running. */
  close(): void
}

/** A file of the journal. */
interface Part {
  path: string
  file: number
  bytes: number
  /** Lines that the store may not have yet. */
  waiting: number
}

/** Creates the journal of this process. It notes nothing until it is opened. @param onError called when it cannot be written */
export function createJournal(onError: (error: unknown) => void): Journal {
  const holder = randomUUID()
  const out = new Map<string, Micros>()
  let folder: string | null = null
  let lock: ProcessLock | null = null
  let number = 0
  /** The part that is written, and the one before while the store may lack lines of it. */
  let part: Part | null = null
  let before: Part | null = null

  function begin(): Part {
    const path = partOf(folder as string, holder, number++)
    const begun = { path, file: openSync(path, 'wx', 0o600), bytes: 0, waiting: 0 }
    try {
      write(begun, header())
      for (const [id, micros] of out) write(begun, { out: [id, micros] })
      return begun
    } catch (error) {
      // What lacks lines would prove that their amounts were not spent.
      remove(begun)
      throw error
    }
  }

  function write(to: Part, line: object): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    for (let from = 0; from < bytes.length; ) from += writeSync(to.file, bytes, from)
    to.bytes += bytes.length
  }

  function remove(removed: Part): void {
    closeSync(removed.file)
    rmSync(removed.path, { force: true })
  }

  /** Drops a journal that lacks lines: it would prove too little to be spent. A new one begins once the store has all. */
  function drop(): void {
    for (const dropped of [part, before]) if (dropped) remove(dropped)
    part = null
    before = null
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

  function settle(done: Part): void {
    if (done.waiting > 0 || done !== before) return
    before = null
    remove(done)
  }

  function append(line: JournalLine): Part | null {
    if (folder === null) return null
    try {
      turn()
      write(part as Part, line)
      return part
    } catch (error) {
      drop()
      folder = null
      onError(error)
      return null
    }
  }

  function note(line: JournalLine): (() => void) | null {
    const noted = append(line)
    if (noted === null) return null
    noted.waiting += 1
    return () => {
      noted.waiting -= 1
      settle(noted)
    }
  }

  return {
    holder,
    async open(at) {
      const { lockFile } = await loadLock()
      makeFolder(at)
      lock = lockFile(lockOf(at, holder))
      folder = at
      part = begin()
    },
    mark(allowanceId, micros) {
      if (micros === 0) out.delete(allowanceId)
      else out.set(allowanceId, micros)
      append({ out: [allowanceId, micros] })
    },
    noteCall(call, callerId) {
      const { spend } = call
      const isBounded = spend === null ? callerId !== null : spend.noted !== undefined
      if (!isBounded) return null
      const noted = note(callLine(call, UNTOLD))
      if (noted !== null) spend?.noted?.()
      return noted
    },
    noteCharge: (charge) => note({ charge }),
    close() {
      if (folder === null) return
      const isOver = out.size === 0 && part?.waiting === 0 && before === null
      if (isOver) drop()
      else for (const kept of [part, before]) if (kept) closeSync(kept.file)
      lock?.release()
      if (isOver) rmSync(lockOf(folder, holder), { force: true })
      folder = null
    },
  }
}

const UNTOLD = 'The process ended before this record was written; its error was not kept.'
