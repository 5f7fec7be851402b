import { type Kysely, sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import type { Engine } from '../store/engine.ts'
import { forgottenAmong } from '../store/forgotten-callers.ts'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import { withoutNul } from '../store/storable-text.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow, CallRow } from '../store/tables/calls-tables.ts'
import { toMicros } from '../text/money.ts'
import { cacheColumns } from './call-cache.ts'
import { FIGURES, NO_CALLS } from './call-figures.ts'
import type { CallRecord } from './call-record.ts'
import { NO_SESSION } from './call-session.ts'
import type { CallSpend } from './call-spend.ts'
import { addTags } from './call-tags.ts'
import { timingColumns } from './call-timing.ts'
import { addTotals } from './call-totals.ts'
import { latencyBucket } from './latency-buckets.ts'
import type { QueuedCall } from './queued-call.ts'
import { addToSessions } from './session-sums.ts'
import { requestedColumn } from './stored-call.ts'
import { addObjects } from './upstream-objects.ts'

/** Existing records looked up per statement. */
const LOOKED_FOR = 500

/** Writes the spends of calls, as part of a transaction. */
export type WriteSpending = (trx: Transaction<Schema>, spends: readonly CallSpend[], engine: Engine) => Promise<void>

/**
 * Writes a batch of call records in one transaction, with the hourly rollups, the totals, the sessions and the
 * spends. The first
 * `tried` records may be stored already, when a connection was lost during the commit; those found are skipped.
 */
export type CallWriter = (batch: readonly QueuedCall[], tried: number) => Promise<void>

/** Creates the writer of call records to `store`. */
export function createCallWriter(store: Store, writeSpending: WriteSpending): CallWriter {
  return (batch, tried) =>
    store.write(async (trx) => {
      const stored = await storedIds(
        trx,
        batch.slice(0, tried).map(({ record }) => record.call_id),
      )
      const fresh = await withoutForgotten(
        trx,
        batch.filter(({ record }) => !stored.has(record.call_id)),
      )
      const rows = fresh.map(({ record }) => toRow(record))
      const rollups = rollUp(rows)
      await addToRollups(trx, rollups)
      await addTotals(trx, rollups)
      await addToSessions(trx, rows)
      // Rows name their sessions by the numbers that these have got.
      await runBuiltRows(trx, 'insert calls', rows, (part) => trx.insertInto('calls').values(part).compile())
      const spends = fresh.flatMap(({ spend }) => spend ?? [])
      if (spends.length > 0) await writeSpending(trx, spends, store.engine)
      await addObjects(trx, fresh)
      await addTags(
        trx,
        fresh.map(({ record }) => record),
      )
    })
}

/** Takes the texts out of the records of callers whose content was erased while their calls ran. */
async function withoutForgotten(
  trx: Transaction<Schema>,
  batch: readonly QueuedCall[],
): Promise<readonly QueuedCall[]> {
  const forgotten = await forgottenAmong(trx, new Set(batch.flatMap(({ record }) => record.caller_id ?? [])))
  if (forgotten.size === 0) return batch
  return batch.map((call) => {
    if (!forgotten.has(call.record.caller_id ?? '')) return call
    const { content: _, ...record } = call.record
    const { client, client_version } = record
    const words = { ...NO_SESSION, client, client_version }
    return { ...call, record: { ...record, ...words, error: null, address: null, tags: [] } }
  })
}

/**
 * Adds counts of calls without records to the hourly rollups.
 *
 * @param rows in the order that batches of records use
 */
export async function writeCounts(store: Store, rows: readonly CallRollupRow[]): Promise<void> {
  await store.write((trx) => addToRollups(trx, rows))
}

const addToRollups = (trx: Transaction<Schema>, rollups: readonly CallRollupRow[]) =>
  runBuiltRows(trx, 'add to call rollups', rollups, (part) => addRollups(trx, part).compile())

/** Finds the calls that are stored among `ids`. */
export async function storedIds(trx: Kysely<Schema>, ids: readonly string[]): Promise<Set<string>> {
  const stored = new Set<string>()
  for (let start = 0; start < ids.length; start += LOOKED_FOR) {
    const some = ids.slice(start, start + LOOKED_FOR)
    const rows = await trx.selectFrom('calls').select('call_id').where('call_id', 'in', some).execute()
    for (const { call_id } of rows) stored.add(call_id)
  }
  return stored
}

const added = (name: string) => sql`${sql.ref(`call_rollups.${name}`)} + ${sql.ref(`excluded.${name}`)}`

function addRollups(trx: Transaction<Schema>, rollups: readonly CallRollupRow[]) {
  return trx
    .insertInto('call_rollups')
    .values(rollups)
    .onConflict((conflict) =>
      conflict
        .columns(['hour', 'model', 'caller_id', 'path', 'status', 'latency_bucket'])
        .doUpdateSet(Object.fromEntries(FIGURES.map((name) => [name, added(name)]))),
    )
}

/** Rollup rows that a batch adds to, in key order, so that concurrent batches do not deadlock. */
function rollUp(rows: readonly CallRow[]): CallRollupRow[] {
  const byKey = new Map<string, CallRollupRow>()
  for (const row of rows) {
    const hour = hourOf(row.at)
    const [model, caller_id] = [row.model ?? '', row.caller_id ?? '']
    const { path, status, latency_bucket } = row
    const key = `${hour}\0${model}\0${caller_id}\0${path}\0${status}\0${latency_bucket}`
    const sum = byKey.get(key) ?? { hour, model, caller_id, path, status, latency_bucket, ...NO_CALLS }
    // Without a copy of the row, which would cost more than all sums.
    sum.calls += 1
    for (const figure of FIGURES) if (figure !== 'calls') sum[figure] += row[figure] ?? 0
    byKey.set(key, sum)
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/**
 * Converts a record to its row:
 * - Every row has the same columns in the same order; the statements rely on it.
 * - Text is stored so that no engine merges two kinds of calls that are counted apart here.
 */
function toRow(record: CallRecord): CallRow {
  const { usage } = record
  const model = withoutNul(record.model)
  return {
    call_id: record.call_id,
    at: record.at,
    surface: record.surface,
    caller_id: record.caller_id,
    address: record.address,
    path: withoutNul(record.path),
    requested_model: requestedColumn(withoutNul(record.requested_model), model),
    model,
    upstream: record.upstream,
    stream: Number(record.stream),
    status: record.status,
    http_status: record.http_status,
    fallback_from: record.fallback_from,
    skipped: record.skipped.length === 0 ? null : JSON.stringify(record.skipped),
    latency_ms: record.latency_ms,
    latency_bucket: latencyBucket(record.latency_ms),
    first_token_ms: record.first_token_ms,
    ...timingColumns(record.timing),
    prompt_tokens: usage?.prompt_tokens ?? null,
    completion_tokens: usage?.completion_tokens ?? null,
    total_tokens: usage?.total_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    cache_write_tokens: usage?.cache_write_tokens ?? null,
    ...cacheColumns(record.cache),
    usage_estimated: Number(usage?.estimated ?? false),
    upstream_cost_micros: toMicros(record.upstream_cost_usd ?? 0) ?? 0,
    price_from: record.price_from,
    provider_key: record.provider_key,
    session: null,
    session_id: record.session_id,
    thread_id: record.thread_id,
    parent_id: record.parent_id,
    turn_id: record.turn_id,
    kind: record.kind,
    client: record.client,
    client_version: record.client_version,
    error: record.error,
    changed: record.changed === undefined ? null : JSON.stringify(record.changed),
    content: record.content === undefined ? null : contentText(record.content),
  }
}

/** Request and answer as JSON. Names the problem instead when they nest too deeply to be serialized. */
function contentText(content: unknown): string {
  try {
    return JSON.stringify(content)
  } catch (error) {
    return JSON.stringify({ not_kept: String(error) })
  }
}
