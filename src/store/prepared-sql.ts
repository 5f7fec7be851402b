import { CompiledQuery, type Kysely, type QueryResult, type Transaction } from 'kysely'
import { together } from './joined-statements.ts'
import type { Schema } from './schema.ts'

/** SQL by form, per open store. */
const built = new WeakMap<object, Map<string, string>>()
/** Statement names by SQL. */
const names = new Map<string, string>()

/** Name under which the server prepares a cached statement; null for any other statement. */
export const preparedName = (sql: string): string | null => names.get(sql) ?? null

/** A statement whose SQL is built once per form. */
export interface Statement<R = unknown> {
  /** Name of the form. Statements of one form differ only in the values of their parameters. */
  form: string
  /** Parameters, in the order in which the SQL uses them. */
  parameters: readonly unknown[]
  build(): CompiledQuery<R>
}

/**
 * Runs a statement whose SQL is built once per form. Building takes about as long as running, which matters for every
 * paid call. PostgreSQL also prepares the statement once per connection.
 *
 * @throws RangeError when the SQL uses other parameters, or in another order
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
 * Runs statements in order as part of a transaction, in one round trip to PostgreSQL. None depends on the result of
 * another.
 *
 * @returns the result of each
 * @throws the error of the first that fails; RangeError as {@link runBuilt}
 */
export async function runTogether(
  trx: Transaction<Schema>,
  statements: readonly Statement[],
): Promise<QueryResult<unknown>[]> {
  const { rows } = await trx.executeQuery(together(statements.map((statement) => compiled(trx, statement))))
  return rows
}

/** Maximum number of statements that are prepared: each takes memory on every connection. */
const MAX_PREPARED = 500

/** Runs a statement that PostgreSQL prepares once per connection. Its plan must not depend on the parameters. */
export function runPrepared<R>(db: Kysely<Schema>, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  if (names.size < MAX_PREPARED) name(query.sql)
  return db.executeQuery(query)
}

function compiled<R>(db: Kysely<Schema>, { form, parameters, build }: Statement<R>): CompiledQuery<R> {
  const { adapter } = db.getExecutor()
  const forms = built.get(adapter) ?? new Map<string, string>()
  built.set(adapter, forms)
  const text = forms.get(form) ?? buildChecked(form, parameters, build)
  forms.set(form, text)
  // Bypasses Kysely's API, which would freeze the parameters: a batch has thousands.
  return { ...CompiledQuery.raw(text), parameters } as CompiledQuery<R>
}

/** Rows per statement of {@link runBuiltRows}. Few sizes, so that few statements are built and prepared. */
const SIZES = [100, 10, 1]

/**
 * Runs a statement over many rows in chunks of a few sizes, as {@link runBuilt} does.
 *
 * @param rows rows with the same columns in the same order
 * @param build builds the statement for a chunk, with the rows' values as its parameters
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
  name(sql)
  return sql
}

function name(sql: string): void {
  if (!names.has(sql)) names.set(sql, `gazeway_${names.size + 1}`)
}
