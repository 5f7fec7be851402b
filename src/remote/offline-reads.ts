import * as z from 'zod'
import type { Base } from '../base.ts'
import type { GazewayError } from '../errors.ts'
import { Memory } from '../memory/memory.ts'
import { inTime } from '../wire/with-timeout.ts'
import { type CopiedMemories, copiedMemories } from './copied-memories.ts'
import { MOST_COPIED, readCopy, writeCopy } from './memory-copy.ts'
import { type AskRemote, isDown } from './remote-request.ts'

/** Age from which the copy is made again, after a request that the remote has answered. */
const COPY_EVERY_MS = 60_000
/** Time after a failure in which reads come from the copy at once. */
const RESTS_MS = 15_000
const NEWEST_TRUSTED = 200
/** Time that a copy gets at shutdown. */
const CLOSE_MS = 2_000

/**
 * Keeps a copy of the remote's memories, and reads it while the remote does not answer.
 *
 * @param deps.over the memories over the network
 * @param deps.file file of the copy
 */
export function createOfflineReads(
  deps: Pick<Base, 'log' | 'now'> & { ask: AskRemote; over: CopiedMemories; file: string; elapsedMs: () => number },
) {
  const { log, now, ask, over, file, elapsedMs } = deps
  const closing = new AbortController()
  let copying: Promise<void> | undefined
  let copiedAt = Number.NEGATIVE_INFINITY
  let down: { error: GazewayError; at: number } | null = null
  let note: string | null = null

  /** Copies the memories behind a request, so that nobody waits for it. */
  function copySoon(): void {
    if (copying || closing.signal.aborted || elapsedMs() - copiedAt < COPY_EVERY_MS) return
    copiedAt = elapsedMs()
    copying = copyMemories(ask, closing.signal)
      .then((copied) => writeCopy(file, { saved_at: now().toISOString(), ...copied }))
      .catch((err) => log.debug('Failed to copy the memories of the remote Gazeway.', { err }))
      .finally(() => {
        copying = undefined
      })
  }

  /** Asks the remote, and notes whether it answers. */
  async function answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work()
      down = null
      note = null
      copySoon()
      return answer
    } catch (error) {
      if (isDown(error)) down = { error, at: elapsedMs() }
      throw error
    }
  }

  async function readCopied<T>(fault: GazewayError, work: (memories: CopiedMemories) => Promise<T>): Promise<T> {
    const copy = await readCopy(file)
    if (copy === null) throw fault
    note = `${fault.message} This is from the copy of ${copy.saved_at}; nothing can be stored now.`
    return work(copiedMemories(copy))
  }

  return {
    answered,
    /** Asks the remote, or reads the copy while it does not answer. */
    async read<T>(work: (memories: CopiedMemories) => Promise<T>): Promise<T> {
      if (down !== null && elapsedMs() - down.at < RESTS_MS) return readCopied(down.error, work)
      try {
        return await answered(() => work(over))
      } catch (error) {
        if (!isDown(error)) throw error
        return readCopied(error, work)
      }
    },
    /** Changes the remote's memories; the next request makes the copy again. */
    async write<T>(work: () => Promise<T>): Promise<T> {
      copiedAt = Number.NEGATIVE_INFINITY
      return answered(work)
    },
    offlineNote: () => note,
    /** Waits shortly for the copy that is being made, and then ends it. */
    async close() {
      await inTime(CLOSE_MS, copying)
      closing.abort()
      await copying
    },
  }
}

const MemoryPage = z.object({ items: z.array(Memory) })

async function copyMemories(ask: AskRemote, signal: AbortSignal) {
  const page = (query: Record<string, string | number | boolean>) =>
    ask({ path: '/api/memory', query, reply: MemoryPage, signal })
  const { items: memories } = await page({ limit: MOST_COPIED })
  const trusted = await page({ trusted: true, projects: 'all', limit: NEWEST_TRUSTED })
  return { memories, trusted: trusted.items.map(({ id }) => id) }
}
