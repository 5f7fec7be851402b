import { sql, type Transaction } from 'kysely'
import { runBuiltRows } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow, CallSumLevel, CallSumRow } from '../store/tables/calls.ts'
import { addCounts } from './latency-buckets.ts'

/** A sum while counts are added to it. */
interface Sum extends Omit<CallSumRow, 'latencies'> {
  latencies: Map<number, number>
}

/**
 * Moves the counts of hours before that of `before`, at most `limit` of them, into the sums, with their latencies side by
 * side: the writer of records counts with one statement, and statistics read a few rows an hour or a day, however much
 * latencies vary. Counts that come later are folded in their turn.
 *
 * @param before RFC 3339 UTC
 * @returns how many were moved
 */
export function foldCalls(store: Store, before: string, limit: number): Promise<number> {
  const hour = `${before.slice(0, 13)}:00:00.000Z`
  const key = sql.raw('hour, model, caller_id, path, status, latency_bucket')
  return store.write(async (trx) => {
    // Of two who fold at once, the second waits here, and adds to what the first has written. SQLite has one writer anyway.
    if (store.engine === 'postgres') await sql`lock table call_sums in share row exclusive mode`.execute(trx)
    const { rows } = await sql<CallRollupRow>`delete from call_rollups where (${key}) in
        (select ${key} from call_rollups where hour < ${hour} order by ${key} limit ${limit})
      returning *`.execute(trx)
    const sums = new Map<string, Sum>()
    for (const row of rows) for (const sum of sumsOf(row)) add(sums, sum)
    for (const stored of await storedSums(trx, [...sums.values()])) add(sums, stored)
    const written = [...sums.values()].map((sum) => ({ ...sum, latencies: JSON.stringify([...sum.latencies]) }))
    await runBuiltRows(trx, 'write sums of calls', written, (part) => writeSums(trx, part).compile())
    return rows.length
  })
}

/** What a count is added to, as a sum of it alone. */
function sumsOf(row: CallRollupRow): Sum[] {
  const { hour, caller_id, model, path } = row
  const day = `${hour.slice(0, 10)}T00:00:00.000Z`
  const all = { caller_id: '', model, path }
  return [
    sumOf(row, 'hour', hour, row),
    sumOf(row, 'hour_of_all', hour, all),
    sumOf(row, 'day_of_all', day, all),
    sumOf(row, 'day_of_caller', day, { caller_id, model: '', path: '' }),
  ]
}

/** Field by field: to spread it takes seven times as long as all else here. */
function sumOf(
  row: CallRollupRow,
  level: CallSumLevel,
  start: string,
  { caller_id, model, path }: Pick<Sum, 'caller_id' | 'model' | 'path'>,
): Sum {
  return {
    level,
    start,
    caller_id,
    model,
    path,
    status: row.status,
    calls: row.calls,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    total_tokens: row.total_tokens,
    upstream_cost_micros: row.upstream_cost_micros,
    latencies: new Map([[row.latency_bucket, row.calls]]),
  }
}

function add(sums: Map<string, Sum>, more: Sum): void {
  const key = `${more.level}\0${more.start}\0${more.caller_id}\0${more.model}\0${more.path}\0${more.status}`
  const sum = sums.get(key)
  if (!sum) {
    sums.set(key, more)
    return
  }
  sum.calls += more.calls
  sum.prompt_tokens += more.prompt_tokens
  sum.completion_tokens += more.completion_tokens
  sum.total_tokens += more.total_tokens
  sum.upstream_cost_micros += more.upstream_cost_micros
  addCounts(sum.latencies, more.latencies)
}

const keyOf = ({ level, start, caller_id, model, path, status }: Sum) => ({
  level,
  start,
  caller_id,
  model,
  path,
  status,
})

async function storedSums(trx: Transaction<Schema>, sums: readonly Sum[]): Promise<Sum[]> {
  const rows = await runBuiltRows(trx, 'read sums of calls', sums.map(keyOf), (keys) =>
    sql<CallSumRow>`select * from call_sums where (level, start, caller_id, model, path, status) in
      (${sql.join(keys.map((key) => sql`(${sql.join(Object.values(key))})`))})`.compile(trx),
  )
  return rows.map((row) => ({ ...row, latencies: new Map(JSON.parse(row.latencies)) }))
}

function writeSums(trx: Transaction<Schema>, sums: readonly CallSumRow[]) {
  return trx
    .insertInto('call_sums')
    .values(sums)
    .onConflict((conflict) =>
      conflict.columns(['level', 'start', 'caller_id', 'model', 'path', 'status']).doUpdateSet({
        calls: sql`excluded.calls`,
        prompt_tokens: sql`excluded.prompt_tokens`,
        completion_tokens: sql`excluded.completion_tokens`,
        total_tokens: sql`excluded.total_tokens`,
        upstream_cost_micros: sql`excluded.upstream_cost_micros`,
        latencies: sql`excluded.latencies`,
      }),
    )
}
