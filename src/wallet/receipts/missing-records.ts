import { type Kysely, sql } from 'kysely'
import type { CallRecord } from '../../calls/call-record.ts'
import { NO_SESSION } from '../../calls/call-session.ts'
import { createCallWriter } from '../../calls/call-writer.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Sweep } from '../../store/sweeps.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { toUsd } from '../../text/money.ts'
import { archivedUntil } from '../archive/archives.ts'
import { writeRecorded } from './store-receipts.ts'

/** Interval of the sweep, in milliseconds. */
const EVERY_MS = 600_000
/** Age of a receipt, in milliseconds, after which its record is not on its way any more. */
const SETTLED_MS = 600_000
/** Age of the oldest receipt that is looked at after a start, in milliseconds. */
const OLDEST_MS = 7 * 86_400_000
const DAY_MS = 86_400_000
/** Newest calls that a quick look compares with their receipts. */
const MOST_COMPARED = 20_000

/** Range of times of receipts: `from` is inclusive, `before` exclusive. */
interface Times {
  from: string
  before: string
}

/** Times of the receipts that must have a record. @param retentionDays records of before may be deleted */
export function settledTimes(now: Date, retentionDays: number | null): Times {
  const kept = retentionDays === null ? OLDEST_MS : Math.min(OLDEST_MS, retentionDays * DAY_MS - EVERY_MS)
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  return { from: ago(kept), before: ago(SETTLED_MS) }
}

/**
 * Sweep that writes the record of each receipt that has none: its process died after the charge, and its journal is
 * gone. Each process looks at a receipt once.
 *
 * @param retentionDays `audit.retention_days`, read at each run
 */
export function missingRecords(store: Store, now: () => Date, retentionDays: () => number | null): Sweep {
  const write = createCallWriter(store, writeRecorded)
  let after: { at: string; call_id: string } | null = null
  return {
    name: 'wallet.records',
    everyMs: EVERY_MS,
    async batch(limit) {
      const { from, before } = settledTimes(now(), retentionDays())
      let query = store.db.selectFrom('metered_calls').selectAll().where('at', '>=', from).where('at', '<', before)
      if (after) query = query.where(sql<boolean>`(at, call_id) > (${after.at}, ${after.call_id})`)
      const receipts = await query.orderBy('at').orderBy('call_id').limit(limit).execute()
      const recorded = await recordedAmong(store.db, receipts)
      const missing = receipts.filter(({ call_id }) => !recorded.has(call_id))
      if (missing.length > 0)
        await write(
          missing.map((receipt) => ({ record: toRecord(receipt), spend: null, made: [] })),
          missing.length,
        )
      after = receipts.at(-1) ?? after
      return receipts.length
    },
  }
}

async function recordedAmong(db: Kysely<Schema>, receipts: readonly MeteredCallRow[]): Promise<Set<string>> {
  if (receipts.length === 0) return new Set()
  const ids = receipts.map(({ call_id }) => call_id)
  const rows = await db.selectFrom('calls').select('call_id').where('call_id', 'in', ids).execute()
  return new Set(rows.map(({ call_id }) => call_id))
}

/** Builds the record of a call from its receipt, which lacks the rest. */
function toRecord(receipt: MeteredCallRow): CallRecord {
  const { prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens } = receipt
  return {
    call_id: receipt.call_id,
    at: receipt.at,
    surface: receipt.path.startsWith('/api/') ? 'platform' : 'http',
    caller_id: receipt.caller_id,
    address: null,
    path: receipt.path,
    requested_model: receipt.model,
    model: receipt.model,
    upstream: receipt.upstream,
    stream: false,
    status: 'ok',
    http_status: null,
    fallback_from: null,
    skipped: [],
    latency_ms: receipt.latency_ms,
    first_token_ms: null,
    usage: {
      ...{ prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens },
      ...(receipt.usage_estimated === 1 && { estimated: true }),
    },
    upstream_cost_usd: toUsd(receipt.upstream_cost_micros),
    price_from: receipt.stated === 1 ? 'stated' : null,
    provider_key: null,
    ...NO_SESSION,
    error: null,
  }
}

/** Receipts without a record, and records of charged calls without a receipt; those of the time from `from` on. */
export interface Unmatched {
  receipts: number
  records: number
  from: string
  /** Beginning of the time before `from` that was asked for and has more calls than are compared. Null for none. */
  uncompared: string | null
}

/**
 * Counts receipts without a record and the reverse. The reverse counts answers to keys whose calls are charged, from
 * their first receipt on. The sweep has looked at older receipts.
 *
 * @param most newest calls that are compared; null for all
 */
export async function countUnmatched(
  store: Store,
  times: Times,
  most: number | null = MOST_COMPARED,
): Promise<Unmatched> {
  const db = store.reads
  const { before } = times
  const later = most === null ? undefined : await beginningOf(db, times, most)
  const from = later ?? times.from
  const receipts = await sql<{ number: number }>`
    select count(*) as number from metered_calls as m where m.at >= ${from} and m.at < ${before}
      and not exists (select 1 from calls as c where c.call_id = m.call_id)`.execute(db)
  // Receipts of before are archived.
  const until = (await archivedUntil(db))?.slice(0, 10) ?? ''
  const records = await sql<{ number: number }>`
    select count(*) as number from calls as c join keys as k on k.id = c.caller_id and k.billing <> 'recorded'
    where c.at >= ${from} and c.at < ${before} and c.status = 'ok' and c.upstream_cost_micros > 0
      and (exists (select 1 from metered_calls as f where f.caller_id = c.caller_id and f.charged = 1 and f.at < c.at)
        or exists (select 1 from metered_usage as u where u.caller_id = c.caller_id and u.charged = 1 and u.day < ${until}))
      and not exists (select 1 from metered_calls as m where m.call_id = c.call_id)`.execute(db)
  const uncompared = later === undefined ? null : times.from
  return { receipts: Number(receipts.rows[0]?.number), records: Number(records.rows[0]?.number), from, uncompared }
}

/** Time of the oldest of the newest calls of a time; undefined where it has no more than so many. */
async function beginningOf(db: Kysely<Schema>, { from, before }: Times, most: number): Promise<string | undefined> {
  const calls = db.selectFrom('calls').select('at').where('at', '>=', from).where('at', '<', before)
  const [first] = await calls.orderBy('at', 'desc').offset(most).limit(1).execute()
  return first?.at
}
