import type { Store } from '../store/store.ts'
import type { CallRow } from '../store/tables/calls-tables.ts'
import { toUsd } from '../text/money.ts'
import { cacheOfRow } from './call-cache.ts'
import type { CallRecord } from './call-record.ts'
import { statusOf } from './call-status.ts'
import { tagsOf } from './call-tags.ts'
import { knownTiming } from './call-timing.ts'
import { SESSION_COLUMNS } from './named-session.ts'

/** Columns of a call, without its content. */
export const CALL_COLUMNS = [
  'call_id',
  'at',
  'surface',
  'caller_id',
  'address',
  'path',
  'requested_model',
  'model',
  'upstream',
  'stream',
  'status',
  'http_status',
  'fallback_from',
  'skipped',
  'latency_ms',
  'latency_bucket',
  'first_token_ms',
  'queue_ms',
  'first_byte_ms',
  'first_thought_ms',
  'first_text_ms',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_saved_micros',
  'cache_missed_tokens',
  'cache_missed_micros',
  'cache_changed',
  'usage_estimated',
  'upstream_cost_micros',
  'price_from',
  'provider_key',
  'thread_id',
  'parent_id',
  'turn_id',
  'kind',
  'error',
  'changed',
  ...SESSION_COLUMNS,
] as const

/** A call as it is read: with the words of its session. */
export type ReadCall = Omit<CallRow, 'session'>

/** Requested model of a call that names the one that answered, as most do: it is stored once. */
const SAME_MODEL = ''

/** Model as it is stored for what a client asked for. An empty name asks for none. */
export const requestedColumn = (requested: string | null, model: string | null): string | null =>
  requested !== null && requested === model ? SAME_MODEL : requested || null

/** Finds one call. Null when the trail does not contain it. */
export async function findCall({ db }: Store, callId: string): Promise<CallRecord | null> {
  const row = await db
    .selectFrom('calls')
    .select([...CALL_COLUMNS, 'content'])
    .where('call_id', '=', callId)
    .executeTakeFirst()
  if (row === undefined) return null
  const tags = await tagsOf(db, callId)
  return { ...toRecord(row), ...(tags.length > 0 && { tags }) }
}

/** Makes the record of a call from its row. */
export function toRecord(row: ReadCall): CallRecord {
  const { prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_bucket, ...rest } = row
  const { cached_tokens, cache_write_tokens, upstream_cost_micros, skipped, changed, content, stream, ...priced } = rest
  const { cache_saved_micros, cache_missed_tokens, cache_missed_micros, cache_changed, ...timed } = priced
  const { queue_ms, first_byte_ms, first_thought_ms, first_text_ms, ...fields } = timed
  const cache = cacheOfRow(row)
  const timing = knownTiming({ queue_ms, first_byte_ms, first_thought_ms, first_text_ms })
  const usage =
    prompt_tokens === null || completion_tokens === null || total_tokens === null
      ? null
      : {
          prompt_tokens,
          completion_tokens,
          total_tokens,
          ...(cached_tokens !== null && { cached_tokens }),
          ...(cache_write_tokens !== null && { cache_write_tokens }),
          ...(usage_estimated ? { estimated: true } : {}),
        }
  return {
    ...(fields as Omit<
      CallRecord,
      'skipped' | 'changed' | 'usage' | 'cache' | 'timing' | 'stream' | 'upstream_cost_usd' | 'content'
    >),
    skipped: skipped === null ? [] : JSON.parse(skipped),
    requested_model: fields.requested_model === SAME_MODEL ? fields.model : fields.requested_model,
    stream: stream === 1,
    usage,
    upstream_cost_usd: usage === null && statusOf(fields.status).isOvertaken ? null : toUsd(upstream_cost_micros),
    ...(timing === undefined ? {} : { timing }),
    ...(cache === undefined ? {} : { cache }),
    ...(changed === null ? {} : { changed: JSON.parse(changed) }),
    ...(content === null ? {} : { content: JSON.parse(content) }),
  }
}
