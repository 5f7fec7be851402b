import { type Base, logged } from '../base.ts'
import { GazewayError } from '../errors.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type CallFilter, findCall, listCalls } from './call-list.ts'
import type { CallContext, CallRecord } from './call-record.ts'
import type { CallSpend } from './call-spend.ts'
import { type CallStats, type ChartQuery, callStats } from './call-stats.ts'
import { createCallWriter, type WriteSpending, writeCounts } from './call-writer.ts'
import { createCountedRefusals } from './counted-refusals.ts'
import { countFallbacks, type Fallbacks } from './fallback-counts.ts'
import type { QueuedCall } from './queued-call.ts'
import { callSweeps } from './retention.ts'
import { findOwners, type ObjectOwner } from './upstream-objects.ts'

/** Longest wait of a record before its batch is written. Keep batches small on SQLite: they block every other write. */
const BATCH_DELAY_MS = 25
/** Longest wait of a count of refused calls, so that a flood of them costs few statements. */
const COUNT_DELAY_MS = 1_000
/** Records kept in memory while the store cannot be written. Beyond this the oldest are dropped and reported. */
const QUEUE_LIMIT = 50_000

/** Receives each call that has ended, with the context of its request. */
export type CallListener = (record: CallRecord, context: CallContext | undefined) => void

/** The audit trail. Every call to an upstream is recorded, in batches, so that no call waits for its record. */
export interface Calls {
  /**
   * Queues a record. It is stored within 25 ms, or when `flush` resolves.
   *
   * @param spend amount taken from the caller's budgets, written with the record
   * @param made ids that the upstream gave to objects the call created, written with the record
   */
  record(record: CallRecord, context?: CallContext, spend?: CallSpend | null, made?: readonly string[]): void
  /** Counts a refused call in the statistics only. Written within a second. */
  count(record: CallRecord): void
  /**
   * Subscribes to calls as they end, before their records are stored.
   *
   * @returns unsubscribes
   */
  listen(listener: CallListener): () => void
  /**
   * Writes the queue.
   *
   * @throws the store's error; the records then stay queued
   */
  flush(): Promise<void>
  /** Number of records not yet written. */
  waiting(): number
  /** Lists calls, newest first. */
  history(filter: Paged<CallFilter>): Promise<Page<CallRecord>>
  /** Finds one call. Null when the trail does not contain it. */
  find(callId: string): Promise<CallRecord | null>
  /** Finds the origins of upstreams' ids, as seen by a caller. Ids that the trail does not know are missing. */
  ownersOf(ids: readonly string[], callerId: string | null): Promise<ReadonlyMap<string, ObjectOwner>>
  /** Statistics of a time range, from sums. */
  stats(query: ChartQuery): Promise<CallStats>
  /** Counts the calls that chat completions answered in place of the responses endpoint. */
  fallbacks(query: Pick<ChartQuery, 'from' | 'to' | 'caller_id'>): Promise<Fallbacks>
}

/** The audit trail with its sweeps, which follow `audit.retention_days`. */
export type LiveCalls = Calls & { sweeps: readonly Sweep[] }

/** Opens the room. @param deps as of {@link createCalls} */
export function liveCalls(
  base: Base,
  deps: { writeSpending: WriteSpending; idOf: (model: string) => string },
): LiveCalls {
  const { store, now, config } = base
  const calls = createCalls({ ...deps, store, onError: logged(base, 'Failed to write call records.') })
  return { ...calls, sweeps: callSweeps(store, now, () => config.current().config.audit.retention_days) }
}

/**
 * Creates the audit trail.
 *
 * @param writeSpending writes spends, in the transaction of their records; when absent, calls must not spend
 * @param onError called when a batch could not be written; the batch is retried with the next one
 * @param idOf resolves an alias to the provider's id; returns other names unchanged
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
  /** Records at the head of the queue that may be stored although their write failed. */
  let tried = 0
  let timer: NodeJS.Timeout | undefined
  let countTimer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** Writes a batch. Records that the store rejects are dropped, so that one of them cannot block the queue. */
  async function writeWritable(batch: readonly QueuedCall[]): Promise<void> {
    try {
      await write(batch, tried)
    } catch (error) {
      if (isStoreFault(error)) throw error
      const refused = await writeApart(batch)
      // When every record is rejected, the store itself is at fault.
      if (refused.length === batch.length) throw error
      for (const { record } of refused)
        onError(new Error(`Dropped the record of ${record.call_id}: the store rejects it.`, { cause: error }))
    }
  }

  /**
   * Writes a failed batch in halves, recursively, to isolate what the store rejects.
   *
   * @returns the rejected records
   */
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
        onError(new Error(`Dropped ${lost} call records: the store was not writable for too long.`))
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
    // One batch at a time, in order, also after a failed one.
    writing = writing
      .catch(() => {})
      .then(writeQueued)
      .then(writeCounted)
    return writing
  }

  /**
   * Provider ids that a model name may have in the trail: the name itself and its alias target. A name that is an alias
   * today may have been a provider's id before.
   */
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
    async ownersOf(ids, callerId) {
      if (ids.length === 0) return new Map()
      await flush().catch(onError)
      return findOwners(store, ids, callerId)
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
  throw new RangeError('A call spends from a budget, but no writeSpending was given.')
}

/** Tells whether the store failed, so that the same write may succeed later, rather than the data. */
const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')
