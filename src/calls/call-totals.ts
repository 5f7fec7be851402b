import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { CallRow, CallTotalRow } from '../store/tables/calls-tables.ts'

/** Columns that lists and statistics filter by exact value. Totals and sums have them as dimensions. */
export const FILTER_COLUMNS = ['status', 'path', 'caller_id'] as const

/** Dimensions of a total. */
export type CountedCall = Pick<CallRow, 'model' | 'caller_id' | 'path' | 'status'>

/**
 * Adds calls to the totals, or subtracts them when `calls` is negative. Totals that reach zero are deleted. Rows are
 * written in key order to avoid deadlocks.
 */
export async function addTotals(
  trx: Transaction<Schema>,
  counted: readonly (CountedCall & { calls: number })[],
): Promise<void> {
  const rows = new Map<string, CallTotalRow>()
  for (const { calls, path, status, ...call } of counted) {
    const [model, caller_id] = [call.model ?? '', call.caller_id ?? '']
    const key = `${model}\0${caller_id}\0${path}\0${status}`
    const row = rows.get(key) ?? { model, caller_id, path, status, calls: 0 }
    row.calls += calls
    rows.set(key, row)
  }
  const ordered = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await runBuiltRows(trx, 'count calls', ordered, (part) =>
    trx
      .insertInto('call_totals')
      .values(part)
      .onConflict((conflict) =>
        conflict
          .columns(['model', 'caller_id', 'path', 'status'])
          .doUpdateSet({ calls: sql`call_totals.calls + excluded.calls` }),
      )
      .compile(),
  )
  const taken = ordered.filter(({ calls }) => calls < 0).map(({ calls, ...of }) => of)
  await runBuiltRows(trx, 'forget totals of no calls', taken, (part) =>
    trx
      .deleteFrom('call_totals')
      .where(sql<boolean>`(model, caller_id, path, status) in (values ${sql.join(part.map(valuesOf))})`)
      .where(sql<boolean>`calls = 0`)
      .compile(),
  )
}

const valuesOf = (row: object) => sql`(${sql.join(Object.values(row))})`

/** Keys that are in a group now, revoked ones too. */
export interface GroupKeys {
  group: string
  ids: readonly string[]
}

/** Most keys that a statement names one by one. An engine takes some ten thousand parameters at most. */
const MOST_NAMED = 1000

/** SQL condition: the column names one of the keys. None is met by nothing. */
export function amongst(column: string | RawBuilder<unknown>, { group, ids }: GroupKeys): RawBuilder<SqlBool> {
  if (ids.length === 0) return sql<SqlBool>`1 = 0`
  const keys = ids.length > MOST_NAMED ? sql`select id from keys where group_id = ${group}` : sql.join(ids)
  return sql<SqlBool>`${typeof column === 'string' ? sql.ref(column) : column} in (${keys})`
}

/** Reads how many calls of a kind the trail contains. */
export async function readTotals(
  db: Kysely<Schema>,
  kind: { [Dimension in Exclude<keyof CountedCall, 'model'>]?: string | undefined } & {
    models?: readonly string[] | undefined
    callers?: GroupKeys | undefined
  },
): Promise<number> {
  let query = db.selectFrom('call_totals').select(({ fn }) => fn.sum<number | null>('calls').as('calls'))
  if (kind.models) query = query.where('model', 'in', kind.models)
  if (kind.callers) query = query.where(amongst('caller_id', kind.callers))
  for (const column of FILTER_COLUMNS) {
    const value = kind[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  return Number((await query.executeTakeFirstOrThrow()).calls ?? 0)
}
