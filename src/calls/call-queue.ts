import { GazewayError } from '../errors.ts'
import type { CallWriter } from './call-writer.ts'
import type { QueuedCall } from './queued-call.ts'

/** Records kept in memory while the store cannot be written. Beyond this the oldest are dropped and reported. */
const QUEUE_LIMIT = 50_000

/**
 * Creates the queue of calls that wait to be written.
 *
 * @param onError called with records that are dropped
 */
export function createCallQueue(write: CallWriter, onError: (error: unknown) => void) {
  let queue: QueuedCall[] = []
  /** Records at the head of the queue that may be stored although their write failed. */
  let tried = 0
  /** Start of the wait of the oldest call of the queue. */
  let waitingSince = 0

  /** Writes a batch. Records that the store rejects are dropped, so that one of them cannot block the queue. */
  async function writeWritable(batch: readonly QueuedCall[]): Promise<void> {
    try {
      await write(batch, tried)
    } catch (error) {
      if (isStoreFault(error)) throw error
      const refused = await writeApart(write, batch)
      // When every record is rejected, the store itself is at fault.
      if (refused.length === batch.length) throw error
      for (const { record } of refused)
        onError(new Error(`Dropped the record of ${record.call_id}: the store rejects it.`, { cause: error }))
    }
  }

  function dropOldest(): void {
    const lost = queue.length - QUEUE_LIMIT
    if (lost <= 0) return
    queue = queue.slice(lost)
    tried = Math.max(0, tried - lost)
    onError(new Error(`Dropped ${lost} call records: the store was not writable for too long.`))
  }

  return {
    add(call: QueuedCall): void {
      if (queue.length === 0) waitingSince = performance.now()
      queue.push(call)
    },
    waiting: () => queue.length,
    /** Longest wait of a call, in milliseconds. */
    waitingMs: () => (queue.length === 0 ? 0 : performance.now() - waitingSince),
    /** Writes all waiting calls. @throws the store's error; the calls then stay queued */
    async write(): Promise<void> {
      const batch = queue.slice()
      if (batch.length === 0) return
      const began = performance.now()
      try {
        await writeWritable(batch)
      } catch (error) {
        tried = batch.length
        dropOldest()
        throw error
      }
      for (const { spend, stored } of batch) {
        spend?.written()
        stored?.()
      }
      queue = queue.slice(batch.length)
      waitingSince = began
      tried = 0
    },
  }
}

/**
 * Writes a failed batch in halves, recursively, to isolate what the store rejects.
 *
 * @returns the rejected records
 */
async function writeApart(write: CallWriter, batch: readonly QueuedCall[]): Promise<readonly QueuedCall[]> {
  if (batch.length === 1) return batch
  const refused: QueuedCall[] = []
  for (const half of [batch.slice(0, batch.length / 2), batch.slice(batch.length / 2)])
    try {
      await write(half, half.length)
    } catch (error) {
      if (isStoreFault(error)) throw error
      refused.push(...(await writeApart(write, half)))
    }
  return refused
}

/** Tells whether the store failed, so that the same write may succeed later, rather than the data. */
const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')
