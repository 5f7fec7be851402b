import { withoutNul } from '../storable-text.ts'
import { type Database, driver, type Statement } from './driver.ts'

/** Largest number that the driver binds as an integer by itself. None where it binds floats. */
const MAX_INTEGER = driver.bindsFloats ? Number.NEGATIVE_INFINITY : 2 ** 31 - 1
/** Prepared statements kept per connection. The services use fewer. */
const STATEMENT_LIMIT = 256
/** Matches `select *`, `returning *`, `table.*`; not `count(*)`. */
const ALL_COLUMNS = /(?<!\()\*/

/** A prepared statement with its column names. Empty when it returns no rows. */
interface Prepared {
  statement: Statement
  columns: string[]
  /** True when its columns come from `*`. */
  takesAll: boolean
}

/** Creates a cache of a connection's prepared statements. */
export function createStatements(database: Database): (sql: string) => Prepared {
  const statements = new Map<string, Prepared>()
  return function prepare(sql) {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= STATEMENT_LIMIT) statements.clear()
    const statement = database.prepare(sql)
    // The driver's row objects are slower, and have no prototype.
    statement.setReturnArrays(true)
    const prepared = { statement, columns: columnsOf(statement), takesAll: ALL_COLUMNS.test(sql) }
    statements.set(sql, prepared)
    return prepared
  }
}

/**
 * Converts a value for the driver. Drivers cut a text at U+0000, and bind a number as a float unless it is a BigInt: one
 * of them every number, the other those beyond 32 bits.
 */
export function toParameter(value: unknown): unknown {
  if (typeof value !== 'number') return withoutNul(value)
  return Math.abs(value) > MAX_INTEGER ? asInteger(value) : value
}

const asInteger = (value: number): number | bigint => (Number.isSafeInteger(value) ? BigInt(value) : value)

/**
 * Column names. They are read again after another process changed the schema: SQLite prepares the statement again, and
 * `*` may have other columns.
 */
export const columnsOf = (statement: Statement): string[] => statement.columns().map(({ name }) => name)

/** Builds a row from columns and values. */
export function toRow<R>(columns: readonly string[], values: readonly unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i]
  return row as R
}
