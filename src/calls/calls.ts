import { type SelectQueryBuilder, sql } from 'kysely'
import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import { CallerId } from '../identity/key.ts'
import type { Engine } from '../store/columns.ts'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { CallRow } from '../store/tables/calls.ts'
import { widthOf } from '../store/width.ts'
import { toUsd } from '../text/money.ts'
import { type CallContext, type CallRecord, CallStatus } from './call-record.ts'
import { type CallSelection, countCalls } from './call-selection.ts'
import { type CallStats, type ChartQuery, callStats } from './call-stats.ts'
import { readTotals } from './call-totals.ts'
import { createCallWriter, writeCounts } from './call-writer.ts'
import { createCountedRefusals } from './counted-refusals.ts'
import { countFallbacks, type Fallbacks } from './fallback-counts.ts'

/** Records wait at most this long before they are written together. On SQLite a batch holds up everything else: keep it small. */
const BATCH_DELAY_MS = 25
/** Counts of refused calls wait at most this long: in a flood of them, few statements are to be made. */
const COUNT_DELAY_MS = 1_000
/** Records kept in memory while the store cannot be written; beyond it the oldest are given up, and said so. */
const QUEUE_LIMIT = 50_000
/** The largest content that a list shows, in bytes; a call by itself is shown with all of it. */
const LISTED_CONTENT = 1024 * 1024

/** Which calls to list. `from` is inclusive, `to` exclusive. */
export const CallFilter = ListQuery.extend({
  status: CallStatus.optional(),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Only calls of this model: the provider's id, or an alias of it."),
  path: z.string().max(1024).optional(),
  caller_id: CallerId.optional(),
  from: z.iso.datetime({ offset: true }).optional().describe('Only calls from this time on.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only calls before this time.'),
})
export type CallFilter = z.infer<typeof CallFilter>

/** Hears of a call that has ended, and of the request that it served. */
export type CallListener = (record: CallRecord, context: CallContext | undefined) => void

/** The audit trail: every upstream call, written in batches so that a call never waits for its record. */
export interface Calls {
  /** Queues a record; it is stored within 25 ms, or when `flush` resolves. */
  record(record: CallRecord, context?: CallContext): void
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
  /** Sums over a time range, without reading the calls one by one. */
  stats(query: ChartQuery): Promise<CallStats>
  /** How often the responses endpoint had to be stood in for. */
  fallbacks(query: Pick<ChartQuery, 'from' | 'to' | 'caller_id'>): Promise<Fallbacks>
}

/**
 * @param onError told when a batch could not be written; the batch is tried again with the next one
 * @param idOf the provider's id for an alias; any other name as it is
 */
export function createCalls({
  store,
  onError,
  idOf = (model) => model,
}: {
  store: Store
  onError: (error: unknown) => void
  idOf?: (model: string) => string
}): Calls {
  const write = createCallWriter(store)
  const listeners = new Set<CallListener>()
  const counted = createCountedRefusals()
  let queue: CallRecord[] = []
  /** How many at the head of the queue may be stored already, although their write failed. */
  let tried = 0
  let timer: NodeJS.Timeout | undefined
  let countTimer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** Writes a batch without the records that the store does not take: one of them must not hold up all that follow. */
  async function writeWritable(batch: readonly CallRecord[]): Promise<void> {
    try {
      await write(batch, tried)
    } catch (error) {
      if (isStoreFault(error)) throw error
      const refused = await writeApart(batch)
      // The store may be at fault where it takes none.
      if (refused.length === batch.length) throw error
      for (const { call_id } of refused)
        onError(new Error(`The record of ${call_id} was given up: the store does not take it.`, { cause: error }))
    }
  }

  /** Writes the halves of a batch that could not be written, and theirs. @returns the records that cannot be */
  async function writeApart(batch: readonly CallRecord[]): Promise<readonly CallRecord[]> {
    if (batch.length === 1) return batch
    const refused: CallRecord[] = []
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
    record(record, context) {
      queue.push(record)
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
      const from = filter.from && toUtc(filter.from)
      const to = filter.to && toUtc(filter.to)
      const models = idsOf(filter)
      const db = pageReader(store, filter)
      const matching = (model: string | undefined) => {
        let query = db.selectFrom('calls')
        for (const column of ['status', 'path', 'caller_id'] as const) {
          const value = filter[column]
          if (value !== undefined) query = query.where(column, '=', value)
        }
        if (model !== undefined) query = query.where('model', '=', model)
        if (from) query = query.where('at', '>=', from)
        if (to) query = query.where('at', '<', to)
        if (filter.cursor !== undefined) {
          const [at, id] = decodeCursor(filter.cursor, z.tuple([z.string(), z.string()]))
          query = query.where(sql<boolean>`(at, call_id) < (${at}, ${id})`)
        }
        return query.orderBy('at', 'desc').orderBy('call_id', 'desc')
      }
      const { offset = 0 } = filter
      const selection = { ...filter, models, from, to }
      const each = (models ?? [undefined]).map(matching)
      return readPage(filter, {
        rows: (limit) => newest<CallRow>(each, (calls) => listed(calls, store.engine), limit, offset),
        async sizes(limit) {
          const width = listedWidth(store.engine).as('bytes')
          const rows = await newest(each, (calls) => calls.select(['at', 'call_id', width]), limit, offset)
          return rows.map(({ bytes }) => bytes)
        },
        total: () => (from || to ? countKept(store, selection) : readTotals(store.db, selection)),
        item: toRecord,
        cursor: (row) => [row.at, row.call_id],
      })
    },
    async find(callId) {
      await flush().catch(onError)
      const row = await store.db.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst()
      return row ? toRecord(row) : null
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

type Selected = SelectQueryBuilder<Schema, 'calls', object>

/** What a list shows of a call. Content that would be a page by itself is left out of it. */
function listed(calls: Selected, engine: Engine): SelectQueryBuilder<Schema, 'calls', CallRow> {
  const width = widthOf(engine, ['content'])
  const content = sql<string | null>`case when ${width} <= ${LISTED_CONTENT} then content end`
  return calls.select(CALL_COLUMNS).select(content.as('content'))
}

const listedWidth = (engine: Engine) => {
  const width = widthOf(engine, ['content'])
  return sql<number>`(case when ${width} <= ${LISTED_CONTENT} then ${width} else 0 end)`
}

const CALL_COLUMNS = [
  'call_id',
  'at',
  'surface',
  'caller_id',
  'path',
  'requested_model',
  'model',
  'upstream',
  'stream',
  'status',
  'http_status',
  'fallback_from',
  'latency_ms',
  'latency_bucket',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'usage_estimated',
  'upstream_cost_micros',
  'error',
] as const satisfies ReadonlyArray<keyof CallRow>

/** The newest calls of some models, each found by its own index: for several at once an engine would sort all that match. */
async function newest<Row extends Pick<CallRow, 'at' | 'call_id'>>(
  each: readonly Selected[],
  select: (calls: Selected) => SelectQueryBuilder<Schema, 'calls', Row>,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const found = await Promise.all(
    each.map((calls) => {
      const rows = select(calls)
      return (each.length === 1 ? rows.limit(limit).offset(offset) : rows.limit(offset + limit)).execute() as Promise<
        Row[]
      >
    }),
  )
  if (found.length === 1) return found.flat()
  const isNewer = (a: Row, b: Row) => (a.at === b.at ? a.call_id > b.call_id : a.at > b.at)
  return found
    .flat()
    .sort((a, b) => (isNewer(a, b) ? -1 : 1))
    .slice(offset, offset + limit)
}

/** Whether the store itself failed, so that the same may be written later; not what was to be written. */
const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')

/** How many calls of a time range the trail holds: the hourly sums still count calls that are pruned, which a list cannot show. */
async function countKept(store: Store, selection: CallSelection): Promise<number> {
  const oldest = await store.db.selectFrom('calls').select('at').orderBy('at').orderBy('call_id').limit(1).execute()
  const kept = oldest[0]?.at
  if (kept === undefined) return 0
  const { from } = selection
  return countCalls(store, { ...selection, from: from !== undefined && from > kept ? from : kept })
}

function toRecord(row: CallRow): CallRecord {
  const { prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_bucket, ...rest } = row
  const { upstream_cost_micros, content, stream, ...fields } = rest
  const usage =
    prompt_tokens === null || completion_tokens === null || total_tokens === null
      ? null
      : { prompt_tokens, completion_tokens, total_tokens, ...(usage_estimated ? { estimated: true } : {}) }
  return {
    ...(fields as Omit<CallRecord, 'usage' | 'stream' | 'upstream_cost_usd' | 'content'>),
    stream: stream === 1,
    usage,
    upstream_cost_usd: toUsd(upstream_cost_micros),
    ...(content === null ? {} : { content: JSON.parse(content) }),
  }
}
