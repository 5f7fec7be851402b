import type { Store } from '../store/store.ts'
import { type CallFilter, callsByIds, newestIds } from './call-list.ts'
import type { CallRecord } from './call-record.ts'
import { readTotals } from './call-totals.ts'

/** Calls that a read looks through. A call is dated to its beginning, so a long one is recorded behind later ones. */
const MOST_WATCHED = 1_000
/** Calls of one read. The others follow with the next one. */
const MOST_AT_ONCE = 100
/**
 * A call that is recorded longer than this after it began is not looked for, in milliseconds. So a read goes no further
 * back, however long the calls have been watched.
 */
const LONGEST_CALL_MS = 3_600_000
/**
 * Longest time without a read while the number of calls stays the same, in milliseconds: one may be recorded at the moment
 * in which another is erased.
 */
const LONGEST_UNREAD_MS = 10_000

/** Filter of watched calls. */
export type WatchedCalls = Omit<CallFilter, 'limit' | 'cursor' | 'offset'>

/** Reads the calls that were recorded since the read before, newest first, without content. The first read has none. */
export type CallWatch = () => Promise<CallRecord[]>

/**
 * Watches calls that any process of the store records. A call is missed if it lasts longer than an hour, or if a thousand
 * that began after it are recorded before it.
 *
 * @param models the provider's ids that `filter.model` resolves to
 */
export function watchCalls(
  store: Store,
  filter: WatchedCalls,
  models: string[] | undefined,
  now: () => number = Date.now,
): CallWatch {
  const { status, path, caller_id } = filter
  // No index leads to the calls of a model or path: hours are read, which a look at their number spares.
  const isCounted = models !== undefined || path !== undefined
  let readAt = now()
  /** Null if the next read must look. */
  let knownTotal: number | null = null
  let known: ReadonlySet<string> | null = null
  return async () => {
    const time = Math.max(readAt, now())
    const total = isCounted ? await readTotals(store.db, { models, path, status, caller_id }) : null
    if (total !== null && total === knownTotal && time - readAt < LONGEST_UNREAD_MS) return []
    // Counted from the read before, so that no call is missed after a pause. It never goes back, as `known` would not.
    const earliest = new Date(readAt - LONGEST_CALL_MS).toISOString()
    const from = filter.from !== undefined && Date.parse(filter.from) > Date.parse(earliest) ? filter.from : earliest
    const ids = await newestIds(store, { ...filter, from }, models, MOST_WATCHED)
    const before = known
    const fresh = before === null ? [] : ids.filter((id) => !before.has(id))
    const later = new Set(fresh.slice(0, -MOST_AT_ONCE))
    known = new Set(ids.filter((id) => !later.has(id)))
    if (later.size === 0) readAt = time
    knownTotal = later.size === 0 ? total : null
    return callsByIds(store, fresh.slice(-MOST_AT_ONCE))
  }
}
