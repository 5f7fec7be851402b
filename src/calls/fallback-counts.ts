import { sql } from 'kysely'
import * as z from 'zod'
import { toUtc } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { unindexed } from '../store/unindexed.ts'
import { KEPT_NAMES, keysOfGroup } from './call-selection.ts'
import { type ChartQuery, callStats } from './call-stats.ts'
import { CALL_STATUS_NAMES, CALL_STATUSES } from './call-status.ts'
import { amongst, type GroupKeys } from './call-totals.ts'

/** Rate at which chat completions take over from the responses endpoint, among calls still in the audit trail. */
export const Fallbacks = z.object({
  requests: z.int().describe('Requests whose first attempt was at the responses endpoint'),
  fallen_back: z.int().describe('Number of them that chat completions took over'),
  rate: z.number().describe('Share of them that chat completions took over, 0–1'),
})
export type Fallbacks = z.infer<typeof Fallbacks>

/** Paths of the responses endpoint at any upstream. */
const RESPONSES = '/responses'

/** Filters that the fallbacks of a selection are not counted by. */
const UNCOUNTED = ['model', 'path', 'session', ...KEPT_NAMES] as const
export type FallbackQuery = Pick<ChartQuery, 'from' | 'to' | 'caller_id' | 'group' | (typeof UNCOUNTED)[number]>

/**
 * Counts the fallbacks of a time range; null for a selection by more than time and caller. Both numbers count the same requests: those whose first attempt began in the
 * range and is still in the trail. `from` is inclusive, `to` exclusive.
 */
export async function countFallbacks(store: Store, selection: FallbackQuery): Promise<Fallbacks | null> {
  if (UNCOUNTED.some((filter) => selection[filter] !== undefined)) return null
  const oldest = await store.reads.selectFrom('calls').select('at').orderBy('at').limit(1).execute()
  const kept = oldest[0]?.at
  if (kept === undefined) return { requests: 0, fallen_back: 0, rate: 0 }
  const { to, caller_id, group } = selection
  const callers = await keysOfGroup(store, group)
  const asked = selection.from && toUtc(selection.from)
  const from = asked !== undefined && asked > kept ? asked : kept
  const [{ groups }, laterAttempts, fallenBack] = await Promise.all([
    callStats(store, { from, to, caller_id, group, group_by: 'path' }),
    countLaterAttempts(store, { from, to: to && toUtc(to), caller_id, callers }),
    countFallenBack(store, { from, to: to && toUtc(to), caller_id, callers }),
  ])
  const attempts = groups
    .filter(({ key }) => key.endsWith(RESPONSES))
    .reduce((sum, { calls, refused }) => sum + calls - refused, 0)
  const requests = attempts - laterAttempts
  return { requests, fallen_back: fallenBack, rate: requests === 0 ? 0 : fallenBack / requests }
}

/** Times are RFC 3339 UTC with milliseconds. */
interface Range {
  from: string
  to: string | undefined
  caller_id: string | undefined
  callers: GroupKeys | undefined
}

/**
 * Counts attempts at a responses endpoint that were not the first of their request. Few calls are later attempts, and have
 * an index of their own; that of callers would lead to all calls of a key.
 */
async function countLaterAttempts(store: Store, { from, to, caller_id, callers }: Range): Promise<number> {
  let query = store.reads
    .selectFrom('calls')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('fallback_from', 'is not', null)
    .where('path', 'like', `%${RESPONSES}`)
    .where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<', to)
  if (caller_id !== undefined) query = query.where(unindexed('caller_id'), '=', caller_id)
  if (callers !== undefined) query = query.where(amongst(unindexed('caller_id'), callers))
  return Number((await query.executeTakeFirstOrThrow()).calls)
}

const OVERTAKEN = CALL_STATUS_NAMES.filter((status) => CALL_STATUSES[status].isOvertaken)

/** Counts requests whose first attempt was at a responses endpoint, and a later one was not. */
async function countFallenBack(store: Store, { from, to, caller_id, callers }: Range): Promise<number> {
  let query = store.reads
    .selectFrom('calls as later')
    .select(sql<number>`count(distinct later.fallback_from)`.as('calls'))
    .where('later.fallback_from', 'is not', null)
    .where('later.path', 'not like', `%${RESPONSES}`)
    .where('later.at', '>=', from)
    .where(({ exists, selectFrom }) => {
      let first = selectFrom('calls as first')
        .select('first.call_id')
        .whereRef('first.call_id', '=', 'later.fallback_from')
        .where('first.path', 'like', `%${RESPONSES}`)
        .where('first.status', 'not in', OVERTAKEN)
        .where('first.at', '>=', from)
      if (to !== undefined) first = first.where('first.at', '<', to)
      return exists(first)
    })
  if (caller_id !== undefined) query = query.where(unindexed('later.caller_id'), '=', caller_id)
  if (callers !== undefined) query = query.where(amongst(unindexed('later.caller_id'), callers))
  return Number((await query.executeTakeFirstOrThrow()).calls)
}
