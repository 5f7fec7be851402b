import { type Base, logged } from '../base.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { createListeners } from '../wire/listeners.ts'
import { type CallContextOf, contextOfCall } from './call-attempts.ts'
import { type CallFilter, listCalls } from './call-list.ts'
import { createCallQueue } from './call-queue.ts'
import type { CallContext, CallRecord } from './call-record.ts'
import type { CallSpend } from './call-spend.ts'
import { type CallStats, type ChartQuery, callStats } from './call-stats.ts'
import { createCallWriter, type WriteSpending } from './call-writer.ts'
import { createCountedRefusals } from './counted-refusals.ts'
import { countFallbacks, type FallbackQuery, type Fallbacks } from './fallback-counts.ts'
import type { QueuedCall } from './queued-call.ts'
import { callSweeps } from './retention.ts'
import { type SessionCache, type SessionCacheQuery, sessionCache } from './session-cache.ts'
import { findCall } from './stored-call.ts'
import { findOwners, type ObjectOwner } from './upstream-objects.ts'
import { type CallWatch, type WatchedCalls, watchCalls } from './watch-calls.ts'

/** Longest wait of a record before its batch is written. Keep batches small on SQLite: they block every other write. */
const BATCH_DELAY_MS = 25
/** Longest wait of a count of refused calls, so that a flood of them costs few statements. */
const COUNT_DELAY_MS = 1_000

/** Facts of a call that its record lacks, for traces. */
export interface CallFacts {
  /** Body that was sent, of which a trace may have parameters, and no text. */
  request: unknown
  /** Model that answered, as the reply says. Null when it does not say so. */
  answeredBy: string | null
}

/** Receives each call that has ended, with the context of its request. A refused call has no facts. */
export type CallListener = (record: CallRecord, context: CallContext | undefined, facts?: CallFacts) => void

/** The audit trail. Every call to an upstream is recorded, in batches, so that no call waits for its record. */
export interface Calls {
  /**
   * Queues a record. It is stored within 25 ms, or when `flush` resolves.
   *
   * @param spend amount taken from the caller's budgets, written with the record
   * @param made ids that the upstream gave to objects the call created, written with the record
   * @param facts for listeners; not stored
   */
  record(
    record: CallRecord,
    context?: CallContext,
    spend?: CallSpend | null,
    made?: readonly string[],
    facts?: CallFacts,
  ): void
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
  /** Longest wait of such a record in milliseconds; 0 when there is none. */
  waitingMs(): number
  /** Lists calls, newest first. */
  history(filter: Paged<CallFilter>): Promise<Page<CallRecord>>
  /** Watches the calls of a filter as any process records them. */
  watch(filter: WatchedCalls): CallWatch
  /** Finds one call. Null when the trail does not contain it. */
  find(callId: string): Promise<CallRecord | null>
  /** Reads the attempts of a call's request, and the call before it in its session. */
  contextOf(call: CallRecord): Promise<CallContextOf>
  /** Finds the origins of upstreams' ids, as seen by a caller. Ids that the trail does not know are missing. */
  ownersOf(ids: readonly string[], callerId: string | null): Promise<ReadonlyMap<string, ObjectOwner>>
  /** Statistics of a time range, from sums. */
  stats(query: ChartQuery): Promise<CallStats>
  /** Sums up the prompt caches of a session. */
  cacheOf(query: SessionCacheQuery): Promise<SessionCache>
  /** Counts the calls that chat completions answered in place of the responses endpoint. */
  fallbacks(query: FallbackQuery): Promise<Fallbacks | null>
}

/**
 * Notes a call in the journal of the process, before its answer ends.
 *
 * @returns called once the call is stored; null when it was not noted
 */
export type NoteCall = (call: QueuedCall, callerId: string | null) => (() => void) | null

/** The audit trail with its sweeps, which follow `audit.retention_days`. */
export type LiveCalls = Calls & { sweeps: readonly Sweep[] }

/** Opens the room. @param deps as of {@link createCalls} */
export function liveCalls(
  base: Base,
  deps: { writeSpending: WriteSpending; note: NoteCall; idOf: (model: string) => string },
): LiveCalls {
  const { store, now, config } = base
  const calls = createCalls({ ...deps, store, onError: logged(base, 'Failed to write call records.') })
  const audit = () => config.current().config.audit
  const sweeps = callSweeps(
    store,
    now,
    () => audit().retention_days,
    () => audit().content_retention_days,
  )
  return { ...calls, sweeps }
}

/** Dependencies of {@link createCalls}. */
interface CallsDeps {
  store: Store
  /** Called when a batch could not be written; the batch is retried with the next one. */
  onError: (error: unknown) => void
  /** Writes spends, in the transaction of their records; when absent, calls must not spend. */
  writeSpending?: WriteSpending
  /** Notes calls in a journal; none by default. */
  note?: NoteCall
  /** Resolves an alias to the provider's id; returns other names unchanged. */
  idOf?: (model: string) => string
}

/** Creates the audit trail. */
export function createCalls(deps: CallsDeps): Calls {
  const { store, onError, writeSpending = noSpending, note = () => null, idOf = (model) => model } = deps
  const listeners = createListeners<Parameters<CallListener>>(onError)
  const queue = createCallQueue(createCallWriter(store, writeSpending), onError)
  const counted = createCountedRefusals(store)
  let timer: NodeJS.Timeout | undefined
  let countTimer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    clearTimeout(timer)
    clearTimeout(countTimer)
    timer = undefined
    countTimer = undefined
    // One batch at a time, in order, also after a failed one.
    writing = writing
      .catch(() => {})
      .then(queue.write)
      .then(counted.write)
    return writing
  }

  /** Writes what waits, then reads. Also when it cannot be written: the trail is then incomplete. */
  async function afterFlush<T>(read: () => Promise<T>): Promise<T> {
    await flush().catch(onError)
    return read()
  }

  const idsOf = ({ model }: { model?: string | undefined }) => trailNames(model, idOf)

  return {
    record(record, context, spend = null, made = [], facts) {
      const call: QueuedCall = { record, spend, made }
      call.stored = note(call, record.caller_id)
      queue.add(call)
      listeners.tell(record, context, facts)
      timer ??= setTimeout(() => flush().catch(onError), BATCH_DELAY_MS)
    },
    count(record) {
      counted.add(record)
      listeners.tell(record, undefined)
      countTimer ??= setTimeout(() => flush().catch(onError), COUNT_DELAY_MS)
    },
    listen: listeners.add,
    flush,
    waiting: queue.waiting,
    waitingMs: queue.waitingMs,
    history: (filter) => afterFlush(() => listCalls(store, filter, idsOf(filter))),
    watch(filter) {
      const read = watchCalls(store, filter, idsOf(filter))
      return () => afterFlush(read)
    },
    find: (callId) => afterFlush(() => findCall(store, callId)),
    contextOf: (call) => contextOfCall(store, call),
    ownersOf: async (ids, callerId) =>
      ids.length === 0 ? new Map() : afterFlush(() => findOwners(store, ids, callerId)),
    stats: (query) => afterFlush(() => callStats(store, { ...query, models: idsOf(query) })),
    cacheOf: (query) => afterFlush(() => sessionCache(store, query)),
    fallbacks: (query) => afterFlush(() => countFallbacks(store, query)),
  }
}

/**
 * Provider ids that a model name may have in the trail: the name itself and its alias target. A name that is an alias
 * today may have been a provider's id before.
 */
const trailNames = (model: string | undefined, idOf: (model: string) => string): string[] | undefined =>
  model === undefined ? undefined : [...new Set([model, idOf(model)])]

const noSpending: WriteSpending = async () => {
  throw new RangeError('A call spends from a budget, but no writeSpending was given.')
}
