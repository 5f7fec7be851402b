import { DatabaseSync } from '@photostructure/sqlite'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import pg from 'pg'
import type { Engine } from '../../src/store/engine.ts'
import { MIGRATIONS, type Migrate } from '../../src/store/migrations/migrations.ts'
import { TABLES } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'

/** Kysely's own tables, and the rows of a store that no migration is running on. */
const MIGRATOR = `create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0);
insert into kysely_migration_lock values ('migration_lock', 0);`

/** Writes a store as SQL: the statements of its migrations, then its rows. Triggers build its indexes of words anew. */
export async function dump(store: Store): Promise<string> {
  const { engine } = store
  const steps = await Promise.all(Object.values(MIGRATIONS).map((step) => statementsOf(step, engine)))
  const names = Object.keys(MIGRATIONS).map((name) => `insert into kysely_migration values ('${name}', '2026-11-26');`)
  const rows = await Promise.all(TABLES.map((table) => rowsOf(store, table)))
  const counters = { sqlite: async () => [], postgres: () => countersOf(store) }[engine]
  return [...steps.flat(), MIGRATOR, ...names, ...rows.flat(), ...(await counters()), ''].join('\n')
}

/** Fills an empty database with a dump. */
export async function restore(url: string, text: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    database.exec(`begin; ${text} commit`)
    database.close()
    return
  }
  const client = new pg.Client(url)
  await client.connect()
  await client.query(text)
  await client.end()
}

/** The statements of a migration, without a database. */
async function statementsOf(step: Migrate, engine: Engine): Promise<string[]> {
  const statements: string[] = []
  const dialects = {
    sqlite: { createAdapter: () => new SqliteAdapter(), createQueryCompiler: () => new SqliteQueryCompiler() },
    postgres: { createAdapter: () => new PostgresAdapter(), createQueryCompiler: () => new PostgresQueryCompiler() },
  }
  const db = new Kysely<unknown>({
    dialect: {
      ...dialects[engine],
      createDriver: () => new DummyDriver(),
      createIntrospector: () => {
        throw new Error('A migration reads nothing.')
      },
    },
    log: ({ query }) => void statements.push(`${query.sql};`),
  })
  await step(db, engine)
  return statements
}

async function rowsOf({ db, engine }: Store, table: string): Promise<string[]> {
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db)
  if (rows.length === 0) return []
  const inserts = rows.map((row) => {
    const values = Object.values(row).map((value) => literal(value, engine))
    return `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')});`
  })
  // Some have rows from their migration.
  return [`delete from ${table};`, ...inserts]
}

/** Statements that let columns which number their rows count on. */
async function countersOf({ db }: Store): Promise<string[]> {
  const { rows } = await sql<{ of: string; from: string }>`
    select table_name as of, column_name as from from information_schema.columns
    where table_schema = 'public' and is_identity = 'YES' order by 1`.execute(db)
  return rows.map(
    ({ of, from }) =>
      `select setval(pg_get_serial_sequence('${of}', '${from}'), (select coalesce(max(${from}), 0) + 1 from ${of}), false);`,
  )
}

function literal(value: unknown, engine: Engine): string {
  if (value === null || typeof value === 'number') return String(value)
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  if (!(value instanceof Uint8Array)) throw new TypeError(`A column of a store holds ${typeof value}.`)
  const hex = Buffer.from(value).toString('hex')
  return { sqlite: `x'${hex}'`, postgres: `'\\x${hex}'` }[engine]
}
