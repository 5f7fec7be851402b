import { sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow, CallSumLevel, CallSumRow } from '../store/tables/calls-tables.ts'
import { addFigures, FIGURES, NO_CALLS } from './call-figures.ts'
import { addLatencies, addLatency, type LatencyCounts, latenciesText } from './latency-buckets.ts'

type Key = Pick<CallSumRow, 'level' | 'start' | 'caller_id' | 'model' | 'path' | 'status'>

/** A sum that counts are being added to. */
interface Sum extends Omit<CallSumRow, 'latencies'> {
  latencies: LatencyCounts
}

/**
 * Folds the counts of hours before that of `before` into the sums, at most `limit` counts. The writer then counts with
 * one statement, and statistics read a few rows per hour or day, whatever the number of latencies. Later counts are
 * folded in a later run.
 *
 * Batches do not write sums directly: a histogram must be read before it can be added to, on every level.
 *
 * @param before RFC 3339 UTC
 * @returns number of counts moved
 */
export function foldCalls(store: Store, before: string, limit: number): Promise<number> {
  const key = sql.raw('hour, model, caller_id, path, status, latency_bucket')
  return store.write(async (trx) => {
    // Serializes concurrent folds: the second adds to the sums of the first. SQLite has a single writer anyway.
    if (store.engine === 'postgres') await sql`lock table call_sums in share row exclusive mode`.execute(trx)
    const { rows } = await sql<CallRollupRow>`delete from call_rollups where (${key}) in
        (select ${key} from call_rollups where hour < ${hourOf(before)} order by ${key} limit ${limit})
      returning *`.execute(trx)
    const sums = new Map<string, Sum>()
    for (const row of rows)
      for (const sum of levelsOf(sums, row)) {
        addFigures(sum, row)
        addLatency(sum.latencies, row.latency_bucket, row.calls)
      }
    for (const stored of await storedSums(trx, [...sums.values()])) {
      const { level, start, caller_id, model, path, status } = stored
      const sum = sumIn(sums, level, start, caller_id, model, path, status)
      addFigures(sum, stored)
      addLatencies(sum.latencies, stored.latencies)
    }
    const written = [...sums.values()].map((sum) => ({ ...sum, latencies: latenciesText(sum.latencies) }))
    await runBuiltRows(trx, 'write sums of calls', written, (part) => writeSums(trx, part).compile())
    return rows.length
  })
}

/** Sums of each level that a count belongs to. */
function levelsOf(sums: Map<string, Sum>, { hour, caller_id, model, path, status }: CallRollupRow): Sum[] {
  const day = `${hour.slice(0, 10)}T00:00:00.000Z`
  return [
    sumIn(sums, 'hour', hour, caller_id, model, path, status),
    sumIn(sums, 'hour_of_all', hour, '', model, path, status),
    sumIn(sums, 'day_of_all', day, '', model, path, status),
    sumIn(sums, 'day_of_caller', day, caller_id, '', '', status),
  ]
}

function sumIn(
  sums: Map<string, Sum>,
  level: CallSumLevel,
  start: string,
  caller_id: string,
  model: string,
  path: string,
  status: string,
): Sum {
  const text = [level, start, caller_id, model, path, status].join('\0')
  const known = sums.get(text)
  if (known) return known
  const sum = { level, start, caller_id, model, path, status, ...NO_CALLS, latencies: [] }
  sums.set(text, sum)
  return sum
}

async function storedSums(trx: Transaction<Schema>, sums: readonly Sum[]): Promise<CallSumRow[]> {
  const keys = sums.map(({ level, start, caller_id, model, path, status }) => ({
    level,
    start,
    caller_id,
    model,
    path,
    status,
  })) satisfies Key[]
  return runBuiltRows(trx, 'read sums of calls', keys, (part) =>
    sql<CallSumRow>`select * from call_sums where (level, start, caller_id, model, path, status) in
      (${sql.join(part.map((key) => sql`(${sql.join(Object.values(key))})`))})`.compile(trx),
  )
}

function writeSums(trx: Transaction<Schema>, sums: readonly CallSumRow[]) {
  return trx
    .insertInto('call_sums')
    .values(sums)
    .onConflict((conflict) =>
      conflict
        .columns(['level', 'start', 'caller_id', 'model', 'path', 'status'])
        .doUpdateSet(Object.fromEntries([...FIGURES, 'latencies'].map((name) => [name, sql.ref(`excluded.${name}`)]))),
    )
}
