import * as z from 'zod'
import { toUtc } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { type ChartQuery, callStats } from './call-stats.ts'

/** Rate at which chat completions answer in place of the responses endpoint. */
export const Fallbacks = z.object({
  requests: z.int().describe('Calls to the responses endpoint'),
  fallen_back: z
    .int()
    .describe('Number of them that chat completions answered instead, among calls still in the audit trail'),
  rate: z.number().describe('Share of them that fell back, 0–1'),
})
export type Fallbacks = z.infer<typeof Fallbacks>

/** Counts the fallbacks of a time range through their own index. `from` is inclusive, `to` exclusive. */
export async function countFallbacks(
  store: Store,
  selection: Omit<ChartQuery, 'group_by' | 'model'>,
): Promise<Fallbacks> {
  const { from, to, caller_id } = selection
  let query = store.reads
    .selectFrom('calls')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('fallback_from', 'is not', null)
    .where('status', '!=', 'hedged')
  if (caller_id !== undefined) query = query.where('caller_id', '=', caller_id)
  if (from) query = query.where('at', '>=', toUtc(from))
  if (to) query = query.where('at', '<', toUtc(to))
  const [{ calls }, { groups }] = await Promise.all([
    query.executeTakeFirstOrThrow(),
    callStats(store, { from, to, caller_id, group_by: 'path' }),
  ])
  const fallenBack = Number(calls)
  const requests = groups
    .filter(({ key }) => key.endsWith('/responses'))
    .reduce((sum, { calls, refused }) => sum + calls - refused, 0)
  return { requests, fallen_back: fallenBack, rate: requests === 0 ? 0 : Math.min(1, fallenBack / requests) }
}
