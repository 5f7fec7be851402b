import { GazewayError } from '../errors.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { type CallFilter, findCall, listCalls } from './call-list.ts'
import type { CallContext, CallRecord } from './call-record.ts'
import type { CallSpend } from './call-spend.ts'
import { type CallStats, type ChartQuery, callStats } from './call-stats.ts'
import { createCallWriter, type QueuedCall, type WriteSpending, writeCounts } from './call-writer.ts'
import { createCountedRefusals } from './counted-refusals.ts'
import { countFallbacks, type Fallbacks } from './fallback-counts.ts'
import { findOwner, type ObjectOwner } from './upstream-objects.ts'

/** Records wait at most this long before they are written together. On SQLite a batch holds up everything else: keep it small. */
const BATCH_DELAY_MS = 25
/** Counts of refused calls wait at most this long, so that a flood of them costs few statements. */
const COUNT_DELAY_MS = 1_000
/** Records kept in memory while the store cannot be written; beyond it the oldest are given up, and said so. */
const QUEUE_LIMIT = 50_000

/** Hears of a call that has ended, and of the request that it served. */
export type CallListener = (record: CallRecord, context: CallContext | undefined) => void

/** The audit trail: every upstream call, written in batches so that a call never waits for its record. */
export interface Calls {
  /**
   * Queues a record; it is stored within 25 ms, or when `flush` resolves.
   *
   * @param spend what the call takes from its caller's budgets, written with it
   * @param made ids that the upstream gave to what the call made there, written with it
   */
  record(record: CallRecord, context?: CallContext, spend?: CallSpend | null, made?: readonly string[]): void
  /** Counts a refused call in the statistics, without a record of its own; written within a second. */
  count(record: CallRecord): void
  /** Hears of every call as it ends, before its record is stored. @returns a function that stops it */
  listen(listener: CallListener): () => void
  /** Writes what is queued. @throws the store's error; the records then stay queued */
  flush(): Promise<void>
  /** How many records are not written yet. */
  waiting(): number
  /** The trail, newest first. */
  history(filter: Paged<CallFilter>): Promise<Page<CallRecord>>
  /** One call; null where the trail does not hold it. */
  find(callId: string): Promise<CallRecord | null>
  /** Where an id of an upstream comes from, seen by a caller; null where the trail does not know it. */
  ownerOf(id: string, callerId: string | null): Promise<ObjectOwner | null>
  /** Sums over a time range, without reading the calls one by one. */
  stats(query: ChartQuery): Promise<CallStats>
  /** How often the responses endpoint had to be stood in for. */
  fallbacks(query: Pick<ChartQuery, 'from' | 'to' | 'caller_id'>): Promise<Fallbacks>
}

/**
 * @param writeSpending writes what calls take from budgets, in the transaction that writes their records; none takes
 *   from any when absent
 * @param onError told when a batch could not be written; the batch is tried again with the next one
 * @param idOf the provider's id for an alias; any other name as it is
 */
export function createCalls({
  store,
  onError,
  writeSpending = noSpending,
  idOf = (model) => model,
}: {
  store: Store
  onError: (error: unknown) => void
  writeSpending?: WriteSpending
  idOf?: (model: string) => string
}): Calls {
  const write = createCallWriter(store, writeSpending)
  const listeners = new Set<CallListener>()
  const counted = createCountedRefusals()
  let queue: QueuedCall[] = []
  /** How many at the head of the queue may be stored already, although their write failed. */
  let tried = 0
  let timer: NodeJS.Timeout | undefined
  let countTimer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** Writes a batch without the records that the store does not take: one of them must not hold up all that follow. */
  async function writeWritable(batch: readonly QueuedCall[]): Promise<void> {
    try {
      await write(batch, tried)
    } catch (error) {
      if (isStoreFault(error)) throw error
      const refused = await writeApart(batch)
      // The store may be at fault where it takes none.
      if (refused.length === batch.length) throw error
      for (const { record } of refused)
        onError(
          new Error(`The record of ${record.call_id} was given up: the store does not take it.`, { cause: error }),
        )
    }
  }

  /** Writes the halves of a batch that could not be written, and theirs. @returns the records that cannot be */
  async function writeApart(batch: readonly QueuedCall[]): Promise<readonly QueuedCall[]> {
    if (batch.length === 1) return batch
    const refused: QueuedCall[] = []
    for (const half of [batch.slice(0, batch.length / 2), batch.slice(batch.length / 2)])
      try {
        await write(half, half.length)
      } catch (error) {
        if (isStoreFault(error)) throw error
        refused.push(...(await writeApart(half)))
      }
    return refused
  }

  async function writeQueued(): Promise<void> {
    const batch = queue.slice()
    if (batch.length === 0) return
    try {
      await writeWritable(batch)
      for (const { spend } of batch) spend?.written()
      queue = queue.slice(batch.length)
      tried = 0
    } catch (error) {
      tried = batch.length
      const lost = queue.length - QUEUE_LIMIT
      if (lost > 0) {
        queue = queue.slice(lost)
        tried = Math.max(0, tried - lost)
        onError(new Error(`${lost} call records were given up: the store could not be written for too long.`))
      }
      throw error
    }
  }

  async function writeCounted(): Promise<void> {
    const rows = counted.take()
    if (rows.length === 0) return
    try {
      await writeCounts(store, rows)
    } catch (error) {
      counted.putBack(rows)
      throw error
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    clearTimeout(countTimer)
    timer = undefined
    countTimer = undefined
    // A batch at a time, in order, whether or not the one before could be written.
    writing = writing
      .catch(() => {})
      .then(writeQueued)
      .then(writeCounted)
    return writing
  }

  /** Calls are recorded by the provider's id. What is an alias now may have been another provider's id before. */
  const idsOf = ({ model }: { model?: string | undefined }): string[] | undefined =>
    model === undefined ? undefined : [...new Set([model, idOf(model)])]

  return {
    record(record, context, spend = null, made = []) {
      queue.push({ record, spend, made })
      for (const listener of listeners) listener(record, context)
      timer ??= setTimeout(() => flush().catch(onError), BATCH_DELAY_MS)
    },
    count(record) {
      counted.add(record)
      for (const listener of listeners) listener(record, undefined)
      countTimer ??= setTimeout(() => flush().catch(onError), COUNT_DELAY_MS)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    flush,
    waiting: () => queue.length,
    async history(filter) {
      await flush().catch(onError)
      return listCalls(store, filter, idsOf(filter))
    },
    async find(callId) {
      await flush().catch(onError)
      return findCall(store, callId)
    },
    async ownerOf(id, callerId) {
      await flush().catch(onError)
      return findOwner(store, id, callerId)
    },
    async stats(query) {
      await flush().catch(onError)
      return callStats(store, { ...query, models: idsOf(query) })
    },
    async fallbacks(query) {
      await flush().catch(onError)
      return countFallbacks(store, query)
    },
  }
}

const noSpending: WriteSpending = async () => {
  throw new RangeError('A call takes from a budget, and nothing writes that.')
}

/** Whether the store itself failed, so that the same may be written later; not what was to be written. */
const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')
