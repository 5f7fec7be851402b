import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { QueuedCall } from '../../calls/queued-call.ts'
import { lazily } from '../../lazily.ts'
import { makeFolder } from '../../store/make-folder.ts'
import type { ProcessLock } from '../../store/sqlite/process-lock.ts'
import type { Micros } from '../../text/money.ts'
import type { NotedCharge } from '../receipts/store-receipts.ts'
import { callLine, header, type JournalLine, lockOf } from './journal-file.ts'
import { createJournalParts } from './journal-parts.ts'

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

/** Creates the journal of this process. It notes nothing until it is opened. @param onError called when it cannot be written */
export function createJournal(onError: (error: unknown) => void): Journal {
  const holder = randomUUID()
  const out = new Map<string, Micros>()
  let lock: ProcessLock | null = null
  const parts = createJournalParts({ holder, firstLines, onError })

  function firstLines(): object[] {
    return [header(), ...[...out].map(([id, micros]) => ({ out: [id, micros] }))]
  }

  function note(line: JournalLine): (() => void) | null {
    const part = parts.append(line)
    if (part === null) return null
    part.waiting += 1
    return () => {
      part.waiting -= 1
      parts.settle(part)
    }
  }

  return {
    holder,
    async open(folder) {
      const { lockFile } = await loadLock()
      makeFolder(folder)
      lock = lockFile(lockOf(folder, holder))
      parts.open(folder)
    },
    mark(allowanceId, micros) {
      if (micros === 0) out.delete(allowanceId)
      else out.set(allowanceId, micros)
      parts.append({ out: [allowanceId, micros] })
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
      const folder = parts.folder()
      if (folder === null) return
      const isOver = out.size === 0 && parts.areStored()
      if (isOver) parts.drop()
      else parts.close()
      lock?.release()
      if (isOver) rmSync(lockOf(folder, holder), { force: true })
    },
  }
}

const UNTOLD = 'The process ended before this record was written; its error was not kept.'
