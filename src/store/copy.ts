import { setImmediate as turn } from 'node:timers/promises'
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { COPY_CHECKS } from './copy-checks.ts'
import { RECORD_TABLES, type RecordTable, type Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Rows read and written at a time. Small, because a single memory may take half a megabyte. */
const BATCH = 200

type Row = Record<string, unknown>

/** Progress of a copy, in rows. */
export interface CopyProgress {
  table: RecordTable
  copied: number
  total: number
}

/** Result of a copy: rows by table, and the figures that were compared. */
export interface CopyReport {
  tables: Record<RecordTable, number>
  checks: Array<{ name: string; figure: string }>
}

/**
 * Copies all records of `source`, in one consistent state, to the empty `target`. The copy is verified: either all
 * records arrive or none. The source is only read; it may be written meanwhile.
 *
 * @param options.signal aborts the copy
 * @throws GazewayError `conflict` when the target is not empty; `cancelled` when aborted; `internal_error` when the
 *   copy differs from the source. The target is then unchanged. `store_full` when a SQLite target has only room for its
 *   log
 */
export async function copyStore(
  source: Pick<Store, 'snapshot'>,
  target: Store,
  options: { signal?: AbortSignal; onProgress?: (progress: CopyProgress) => void } = {},
): Promise<CopyReport> {
  const report = await source.snapshot((from) =>
    target.write(async (to) => {
      await requireEmpty(to)
      const counts = await countRows(from)
      const total = Object.values(counts).reduce((sum, rows) => sum + rows, 0)
      let copied = 0
      for (const table of tableNames()) {
        const columns = await sharedColumns(from, to, table)
        const write = createWriter(to, table, columns)
        for await (const rows of readBatches(from, table, columns)) {
          // Yields, so that a stop signal is received: SQLite alone never waits for the event loop.
          await turn()
          if (options.signal?.aborted)
            throw new GazewayError(
              'cancelled',
              'The copy was interrupted: nothing was copied, and the source is unchanged.',
            )
          await write(rows)
          copied += rows.length
          options.onProgress?.({ table, copied, total })
        }
      }
      if (target.engine === 'postgres') await continueNumbers(to)
      return { tables: await verifyCounts(counts, to), checks: await verifySums(from, to) }
    }),
  )
  if (target.engine === 'sqlite') await intoFile(target)
  return report
}

/** Moves the copy from the log of a SQLite store into its file, so that the file alone is complete. */
async function intoFile({ db }: Store): Promise<void> {
  const outcome = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db).catch((cause) => ({ cause }))
  if ('rows' in outcome && outcome.rows[0]?.busy === 0) return
  throw new GazewayError(
    'store_full',
    'All records were copied, but some are still in the -wal file beside the target: the disk is full, or another process ' +
      'reads the target. Free some space, delete both files, and copy again.',
    { cause: outcome },
  )
}

const tableNames = (): RecordTable[] => Object.keys(RECORD_TABLES) as RecordTable[]

async function requireEmpty(to: Transaction<Schema>): Promise<void> {
  const held: string[] = []
  for (const table of tableNames()) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(to)
    if (rows.length > 0) held.push(table)
  }
  if (held.length === 0) return
  throw new GazewayError(
    'conflict',
    `The target already holds records (${held.join(', ')}). Copy into a database that Gazeway has not run on yet, or empty this one first.`,
  )
}

async function countRows(db: Kysely<Schema>): Promise<Record<RecordTable, number>> {
  const counts = {} as Record<RecordTable, number>
  for (const table of tableNames()) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
    counts[table] = rows[0]?.count ?? 0
  }
  return counts
}

/** Columns that both stores have. An engine fills its own additional columns, such as a search index. */
async function sharedColumns(from: Kysely<Schema>, to: Kysely<Schema>, table: RecordTable): Promise<string[]> {
  const columns = async (db: Kysely<Schema>) => {
    const tables = await db.introspection.getTables()
    return tables.find(({ name }) => name === table)?.columns.map((column) => column.name) ?? []
  }
  const known = new Set(await columns(to))
  return (await columns(from)).filter((column) => known.has(column))
}

/** Reads the rows of a table in the order of its primary key. */
async function* readBatches(
  db: Kysely<Schema>,
  table: RecordTable,
  columns: readonly string[],
): AsyncGenerator<Row[], void> {
  const key: readonly string[] = RECORD_TABLES[table]
  const order = sql.join(key.map((column) => sql.ref(column)))
  const selected = sql.join(columns.map((column) => sql.ref(column)))
  for (let last: Row | undefined; ; ) {
    const after = last && sql`where (${order}) > (${sql.join(key.map((column) => last?.[column]))})`
    const { rows } = await sql<Row>`
      select ${selected} from ${sql.table(table)} ${after ?? sql``} order by ${order} limit ${BATCH}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < BATCH) return
    last = rows.at(-1)
  }
}

/** Creates a writer of rows, with one statement per number of rows: building takes longer than running. */
function createWriter(to: Transaction<Schema>, table: RecordTable, columns: readonly string[]) {
  const statements = new Map<number, string>()
  return async (rows: readonly Row[]): Promise<void> => {
    const values = rows.map((row) => columns.map((column) => row[column] ?? null))
    const build = () => sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(values.map((row) => sql`(${sql.join(row)})`))}`
    const statement = statements.get(rows.length) ?? build().compile(to).sql
    statements.set(rows.length, statement)
    await to.executeQuery(CompiledQuery.raw(statement, values.flat()))
  }
}

/** Advances PostgreSQL's sequences, because rows with explicit numbers do not. */
async function continueNumbers(to: Transaction<Schema>): Promise<void> {
  const numbered = {
    memories: 'seq',
    memory_spaces: 'space',
    memory_vectors: 'place',
    session_texts: 'seq',
    gaze_stretches: 'number',
    coding_sessions: 'number',
    receipt_prices: 'number',
  }
  for (const [table, column] of Object.entries(numbered))
    await sql`select setval(pg_get_serial_sequence(${table}, ${column}), max(${sql.ref(column)})) from ${sql.table(table)}
      having max(${sql.ref(column)}) > 0`.execute(to)
}

async function verifyCounts(
  expected: Record<RecordTable, number>,
  to: Transaction<Schema>,
): Promise<Record<RecordTable, number>> {
  const counts = await countRows(to)
  for (const table of tableNames()) requireSame(`rows of ${table}`, expected[table], counts[table])
  return counts
}

async function verifySums(from: Transaction<Schema>, to: Transaction<Schema>): Promise<CopyReport['checks']> {
  const checks: CopyReport['checks'] = []
  for (const { name, figure } of COPY_CHECKS) {
    const [sent, arrived] = [String(await figure(from)), String(await figure(to))]
    requireSame(name, sent, arrived)
    checks.push({ name, figure: arrived })
  }
  return checks
}

function requireSame(what: string, sent: unknown, arrived: unknown): void {
  if (sent === arrived) return
  throw new GazewayError(
    'internal_error',
    `The copy is incomplete (${what}: ${arrived}, not ${sent}); nothing was kept.`,
  )
}
