import { CompiledQuery, type Kysely, type QueryResult, type Transaction } from 'kysely'
import { together } from './joined-statements.ts'
import type { Schema } from './schema.ts'

/** SQL by form, for each open store. */
const built = new WeakMap<object, Map<string, string>>()
/** Names by SQL. */
const names = new Map<string, string>()

/** The name under which a statement that was built once is prepared by a server; null for any other. */
export const preparedName = (sql: string): string | null => names.get(sql) ?? null

/** A statement whose SQL is built once for all statements of its form. */
export interface Statement<R = unknown> {
  /** Names the statement; those of one form differ in nothing but the values of their parameters. */
  form: string
  /** In the order in which the SQL names them. */
  parameters: readonly unknown[]
  build(): CompiledQuery<R>
}

/**
 * Runs a statement whose SQL is built once for all statements of its form: on the way of every paid call, building takes
 * as long as running. PostgreSQL prepares it once for each connection, too.
 *
 * @throws RangeError where the statement, when it is built, has other parameters
 */
export function runBuilt<R = never>(
  db: Kysely<Schema>,
  form: string,
  parameters: readonly unknown[],
  build: () => CompiledQuery<R>,
): Promise<QueryResult<R>> {
  return db.executeQuery(compiled(db, { form, parameters, build }))
}

/**
 * Runs statements in their order, each whatever the others found, as part of a transaction. They go to PostgreSQL in one
 * round trip.
 *
 * @returns the result of each
 * @throws whatever the first that fails throws; RangeError as {@link runBuilt}
 */
export async function runTogether(
  trx: Transaction<Schema>,
  statements: readonly Statement[],
): Promise<QueryResult<unknown>[]> {
  const { rows } = await trx.executeQuery(together(statements.map((statement) => compiled(trx, statement))))
  return rows
}

function compiled<R>(db: Kysely<Schema>, { form, parameters, build }: Statement<R>): CompiledQuery<R> {
  const { adapter } = db.getExecutor()
  const forms = built.get(adapter) ?? new Map<string, string>()
  built.set(adapter, forms)
  const text = forms.get(form) ?? buildChecked(form, parameters, build)
  forms.set(form, text)
  // Not handed to Kysely, which would freeze them: a batch has thousands.
  return { ...CompiledQuery.raw(text), parameters } as CompiledQuery<R>
}

/** Rows per statement of {@link runBuiltRows}: few sizes, so that few statements are built and prepared. */
const SIZES = [100, 10, 1]

/**
 * Runs a statement that writes or finds many rows, in parts of a few sizes, as {@link runBuilt} does.
 *
 * @param rows of the same columns in the same order
 * @param build the statement for some of them, whose parameters are their values
 * @returns the rows that the statement returns
 */
export async function runBuiltRows<Row extends object, R = unknown>(
  db: Kysely<Schema>,
  form: string,
  rows: readonly Row[],
  build: (part: readonly Row[]) => CompiledQuery<R>,
): Promise<R[]> {
  const returned: R[] = []
  let at = 0
  for (const size of SIZES)
    for (; at + size <= rows.length; at += size) {
      const part = rows.slice(at, at + size)
      const parameters: unknown[] = []
      for (const row of part) parameters.push(...Object.values(row))
      const result = await runBuilt(db, `${form} ${size}`, parameters, () => build(part))
      for (const row of result.rows) returned.push(row)
    }
  return returned
}

function buildChecked(form: string, parameters: readonly unknown[], build: () => CompiledQuery): string {
  const { sql, parameters: named } = build()
  const same = named.length === parameters.length && named.every((value, i) => Object.is(value, parameters[i]))
  if (!same) throw new RangeError(`The statement ${form} does not name its parameters in the order of their values.`)
  if (!names.has(sql)) names.set(sql, `gazeway_${names.size + 1}`)
  return sql
}
