import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { withoutNul } from '../text.ts'

/** The largest number that the driver takes for an integer by itself. */
const MAX_INT32 = 2 ** 31 - 1
/** Prepared statements kept per connection; the services use fewer distinct ones. */
const STATEMENT_LIMIT = 256
/** `select *`, `returning *`, `table.*`; not `count(*)`. */
const ALL_COLUMNS = /(?<!\()\*/

/** A statement, and the names of its columns: none where it gives no rows. */
interface Prepared {
  statement: StatementSyncInstance
  columns: string[]
  /** Whether it names its columns by `*`. */
  takesAll: boolean
}

/** The statements of a connection, each prepared once. */
export function createStatements(database: DatabaseSyncInstance): (sql: string) => Prepared {
  const statements = new Map<string, Prepared>()
  return function prepare(sql) {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= STATEMENT_LIMIT) statements.clear()
    const statement = database.prepare(sql)
    // The driver would make objects at twice the time, and without a prototype.
    statement.setReturnArrays(true)
    const prepared = { statement, columns: columnsOf(statement), takesAll: ALL_COLUMNS.test(sql) }
    statements.set(sql, prepared)
    return prepared
  }
}

/**
 * A value as the driver binds it. It ends a text at U+0000, and takes a number beyond 32 bits for one with a fraction
 * unless it is a BigInt.
 */
export function toParameter(value: unknown): unknown {
  if (typeof value !== 'number') return withoutNul(value)
  return value > MAX_INT32 || value < -MAX_INT32 ? asInteger(value) : value
}

const asInteger = (value: number): number | bigint => (Number.isSafeInteger(value) ? BigInt(value) : value)

/** SQLite prepares a statement anew when another process has changed the schema; `*` may then be other columns. */
export const columnsOf = (statement: StatementSyncInstance): string[] => statement.columns().map(({ name }) => name)

/** The values of a row by their columns. */
export function toRow<R>(columns: readonly string[], values: readonly unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i]
  return row as R
}
