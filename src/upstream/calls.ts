import { sql, type Transaction } from 'kysely'
import { z } from 'zod'
import { decodeCursor, ListQuery, type Page, toPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow, CallRow } from '../store/tables/calls.ts'
import { toMicros, toUsd } from '../wallet/money.ts'
import { type CallContext, type CallRecord, CallStatus } from './call-record.ts'
import { latencyBucket } from './latency.ts'
import { type CallStats, callStats, countCalls, type StatsQuery } from './stats.ts'

/** Records wait at most this long before they are written together. */
const BATCH_DELAY_MS = 50
/** Rows per insert statement, below SQLite's and PostgreSQL's limits on bound values. */
const BATCH_ROWS = 500
/** Records kept in memory while the store cannot be written; beyond it the oldest are given up, and said so. */
const QUEUE_LIMIT = 50_000

/** Which calls to list. `from` is inclusive, `to` exclusive. */
export const CallFilter = ListQuery.extend({
  status: CallStatus.optional(),
  model: z.string().max(256).optional(),
  path: z.string().max(1024).optional(),
  caller_id: z.string().max(256).optional(),
  from: z.iso.datetime({ offset: true }).optional().describe('Only calls from this time on.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only calls before this time.'),
})
export type CallFilter = z.infer<typeof CallFilter>

/** Hears of a call that has ended, and of the request that it served. */
export type CallListener = (record: CallRecord, context: CallContext | undefined) => void

/** The audit trail: every upstream call, written in batches so that a call never waits for its record. */
export interface Calls {
  /** Queues a record; it is stored within 50 ms, or when `flush` resolves. */
  record(record: CallRecord, context?: CallContext): void
  /** Hears of every call as it ends, before its record is stored. @returns a function that stops it */
  listen(listener: CallListener): () => void
  /** Writes what is queued. @throws the store's error; the records then stay queued */
  flush(): Promise<void>
  /** The trail, newest first. */
  history(filter: CallFilter): Promise<Page<CallRecord>>
  /** Sums over a time range, without reading the calls one by one. */
  stats(query: StatsQuery): Promise<CallStats>
}

/** @param onError told when a batch could not be written; the batch is tried again with the next one */
export function createCalls({ store, onError }: { store: Store; onError: (error: unknown) => void }): Calls {
  const listeners = new Set<CallListener>()
  let queue: CallRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function writeQueued(): Promise<void> {
    const batch = queue
    queue = []
    if (batch.length === 0) return
    try {
      await store.write((trx) => insertCalls(trx, batch))
    } catch (error) {
      queue = [...batch, ...queue]
      const lost = queue.length - QUEUE_LIMIT
      if (lost > 0) {
        queue = queue.slice(lost)
        onError(new Error(`${lost} call records were given up: the store could not be written for too long.`))
      }
      throw error
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    // A batch at a time, in order, whether or not the one before could be written.
    writing = writing.catch(() => {}).then(writeQueued)
    return writing
  }

  return {
    record(record, context) {
      queue.push(record)
      for (const listener of listeners) listener(record, context)
      timer ??= setTimeout(() => flush().catch(onError), BATCH_DELAY_MS)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    flush,
    async history(filter) {
      await flush().catch(onError)
      const from = filter.from && new Date(filter.from).toISOString()
      const to = filter.to && new Date(filter.to).toISOString()
      let query = store.db.selectFrom('calls').selectAll()
      for (const column of ['status', 'model', 'path', 'caller_id'] as const) {
        const value = filter[column]
        if (value !== undefined) query = query.where(column, '=', value)
      }
      if (from) query = query.where('at', '>=', from)
      if (to) query = query.where('at', '<', to)
      if (filter.cursor) {
        const [at, id] = decodeCursor(filter.cursor, z.tuple([z.string(), z.string()]))
        query = query.where(sql<boolean>`(at, call_id) < (${at}, ${id})`)
      }
      if (filter.offset) query = query.offset(filter.offset)
      const [rows, total] = await Promise.all([
        query
          .orderBy('at', 'desc')
          .orderBy('call_id', 'desc')
          .limit(filter.limit + 1)
          .execute(),
        countCalls(store, { ...filter, from, to }),
      ])
      return toPage(rows, { limit: filter.limit, total, item: toRecord, cursor: (row) => [row.at, row.call_id] })
    },
    async stats(query) {
      await flush().catch(onError)
      return callStats(store, query)
    },
  }
}

async function insertCalls(trx: Transaction<Schema>, batch: readonly CallRecord[]): Promise<void> {
  const rows = batch.map(toRow)
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    await trx
      .insertInto('calls')
      .values(rows.slice(start, start + BATCH_ROWS))
      .execute()

  const rollups = rollUp(rows)
  for (let start = 0; start < rollups.length; start += BATCH_ROWS)
    await trx
      .insertInto('call_rollups')
      .values(rollups.slice(start, start + BATCH_ROWS))
      .onConflict((conflict) =>
        conflict.columns(['hour', 'model', 'caller_id', 'path', 'status', 'latency_bucket']).doUpdateSet({
          calls: sql`call_rollups.calls + excluded.calls`,
          prompt_tokens: sql`call_rollups.prompt_tokens + excluded.prompt_tokens`,
          completion_tokens: sql`call_rollups.completion_tokens + excluded.completion_tokens`,
          total_tokens: sql`call_rollups.total_tokens + excluded.total_tokens`,
          upstream_cost_micros: sql`call_rollups.upstream_cost_micros + excluded.upstream_cost_micros`,
        }),
      )
      .execute()
}

/** The rollup rows that a batch adds to, in primary-key order so that concurrent batches lock rows in one order. */
function rollUp(rows: readonly CallRow[]): CallRollupRow[] {
  const byKey = new Map<string, CallRollupRow>()
  for (const row of rows) {
    const hour = `${row.at.slice(0, 13)}:00:00.000Z`
    const { path, status, latency_bucket } = row
    const dimensions = { hour, model: row.model ?? '', caller_id: row.caller_id ?? '', path, status, latency_bucket }
    const key = JSON.stringify(Object.values(dimensions))
    const sum = byKey.get(key) ?? {
      ...dimensions,
      calls: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      upstream_cost_micros: 0,
    }
    sum.calls += 1
    sum.prompt_tokens += row.prompt_tokens ?? 0
    sum.completion_tokens += row.completion_tokens ?? 0
    sum.total_tokens += row.total_tokens ?? 0
    sum.upstream_cost_micros += row.upstream_cost_micros
    byKey.set(key, sum)
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

function toRow(record: CallRecord): CallRow {
  const { usage, upstream_cost_usd, content, stream, ...rest } = record
  return {
    ...rest,
    stream: Number(stream),
    latency_bucket: latencyBucket(record.latency_ms),
    prompt_tokens: usage?.prompt_tokens ?? null,
    completion_tokens: usage?.completion_tokens ?? null,
    total_tokens: usage?.total_tokens ?? null,
    usage_estimated: Number(usage?.estimated ?? false),
    upstream_cost_micros: toMicros(upstream_cost_usd) ?? 0,
    content: content === undefined ? null : JSON.stringify(content),
  }
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
