import { sql } from 'kysely'
import { hourOf } from '../store/dates.ts'
import { retentionSweep } from '../store/retention.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { dropTags } from './call-tags.ts'
import { addTotals, type CountedCall } from './call-totals.ts'
import { foldCalls } from './fold-calls.ts'
import { pruneObjects } from './upstream-objects.ts'

/** Interval of the sweep that folds hours, in milliseconds. */
const EVERY_MS = 600_000

/**
 * Sweeps of the audit trail, for `startSweeps`: fold the hours that are over, delete old calls, the contents of old
 * calls, and the ids of upstream objects.
 *
 * @param retentionDays `audit.retention_days`, read at each run; null keeps all call records
 * @param contentDays `audit.content_retention_days`, read at each run; null keeps contents as long as their records
 */
export function callSweeps(
  store: Store,
  now: () => Date,
  retentionDays: () => number | null,
  contentDays: () => number | null = () => null,
): Sweep[] {
  const pruning = (
    name: string,
    prune: (store: Store, before: string, limit: number) => Promise<number>,
    days = retentionDays,
  ) => retentionSweep({ name, now, days, prune: (before, limit) => prune(store, before, limit) })
  return [
    { name: 'audit.sums', everyMs: EVERY_MS, batch: (limit) => foldCalls(store, now().toISOString(), limit) },
    pruning('audit.retention', pruneCalls),
    pruning('audit.objects', pruneObjects),
    pruning('audit.content', pruneContents, contentDays),
  ]
}

/**
 * Deletes the oldest calls of whole hours before `before`, at most `limit`, and subtracts them from the totals. Hourly
 * and daily sums stay, so statistics do not change.
 *
 * @param before RFC 3339 UTC
 * @returns number of calls deleted
 */
function pruneCalls(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<CountedCall & { call_id: string }>`delete from calls where call_id in
        (select call_id from calls where at < ${hourOf(before)} order by at, call_id limit ${limit})
      returning call_id, model, caller_id, path, status`.execute(trx)
    await addTotals(
      trx,
      rows.map(({ call_id, ...row }) => ({ ...row, calls: -1 })),
    )
    await dropTags(
      trx,
      rows.map(({ call_id }) => call_id),
    )
    return rows.length
  })
}

/** Contents that a batch deletes: each may be long, and others wait meanwhile. */
const CONTENTS = 40

/** Deletes the oldest contents of calls before `before` (RFC 3339 UTC). Their records stay. */
function pruneContents(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { numAffectedRows } = await sql`update calls set content = null where call_id in
      (select call_id from calls where content is not null and at < ${before} order by at limit ${CONTENTS})`.execute(
      trx,
    )
    return Number(numAffectedRows ?? 0) === CONTENTS ? limit : 0
  })
}
