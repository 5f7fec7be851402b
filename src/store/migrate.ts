import { type Kysely, sql } from 'kysely'
import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import type { Engine } from './engine.ts'
import { FIRST_STEP, isFirstFormat } from './first-format.ts'
import { MIGRATIONS, type Migrations } from './migrations/migrations.ts'
import { type Schema, TABLES } from './schema.ts'

/** Table in which Kysely's migrator records the steps done. */
const TABLE = 'kysely_migration'

const loadMigrator = lazily(() => import('kysely'))

/** Pattern of step names, including those of newer versions. */
const STEP = /^\d{3}_[a-z\d_]+$/

/** First step of stores from before the steps that are kept. */
const UNKEPT_STEP = '001_memory_and_calls'

/**
 * Migrates the store to this version's schema. Processes that start together take turns, and each step runs once. An
 * up-to-date store costs one query.
 *
 * @param steps steps of this version
 * @throws GazewayError `store_too_new` when a newer Gazeway has migrated the store, `store_unavailable` when it
 *   contains tables of another program, or has steps that no version has which is newer than this one; the database is
 *   then unchanged
 */
export async function migrate(
  db: Kysely<Schema>,
  engine: Engine,
  name: string,
  steps: Migrations = MIGRATIONS,
): Promise<void> {
  const done = await executed(db, engine)
  if (isGazeways(done)) refuseUnknown(done, name, steps)
  else await refuseForeign(db, engine, name)
  const known = Object.entries(steps)
  if (done.length === known.length) return
  const isOnlyFirst = (found: readonly string[]) => found.join() === FIRST_STEP
  // Another process may be migrating it.
  if (isOnlyFirst(done) && !(await isFirstFormat(db, engine)) && isOnlyFirst(await executed(db, engine)))
    throw tooOld(name)

  const { Migrator } = await loadMigrator()
  const migrator = new Migrator({
    db,
    // Steps land in parallel, so a store may have one that follows a missing one.
    allowUnorderedMigrations: true,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(known.map(([step, up]) => [step, { up: (trx: Kysely<unknown>) => up(trx, engine) }])),
    },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/**
 * Tells whether the database is a Gazeway store, of this version or an earlier one. Reads only.
 *
 * @throws GazewayError `store_too_new` when a newer version has migrated it
 */
export async function isStore(db: Kysely<Schema>, engine: Engine, name: string): Promise<boolean> {
  const done = await executed(db, engine)
  if (!isGazeways(done)) return false
  refuseUnknown(done, name, MIGRATIONS)
  return true
}

/**
 * Counts the steps that a store is behind this version; 0 when it is no Gazeway store. Reads only.
 *
 * @param steps steps of this version
 * @throws GazewayError `store_too_new`
 */
export async function stepsBehind(
  db: Kysely<Schema>,
  engine: Engine,
  name: string,
  steps: Migrations = MIGRATIONS,
): Promise<number> {
  const done = await executed(db, engine)
  if (!isGazeways(done)) return 0
  refuseUnknown(done, name, steps)
  return Object.keys(steps).length - done.length
}

const isGazeways = (done: readonly string[]): boolean => done.length > 0 && done.every((step) => STEP.test(step))

/** Refuses a store with steps that this version does not have. */
function refuseUnknown(done: readonly string[], name: string, steps: Migrations): void {
  const unknown = done.filter((step) => !(step in steps))
  if (unknown.length === 0) return
  const last = Object.keys(steps).at(-1) ?? ''
  const found = unknown.join(', ')
  if (done.includes(UNKEPT_STEP)) throw tooOld(name)
  if (unknown.every((step) => step > last))
    throw new GazewayError(
      'store_too_new',
      `The store ${name} was written by a newer Gazeway (${found}). Update this one, or use another store.`,
    )
  throw new GazewayError(
    'store_unavailable',
    `The store ${name} was not written by a version of this Gazeway: it has migrations of another (${found}). Open it with ` +
      'the program that wrote it, or give Gazeway a database of its own.',
  )
}

const tooOld = (name: string): GazewayError =>
  new GazewayError(
    'store_unavailable',
    `The store ${name} was written by a Gazeway from before the first format that is kept, and cannot be migrated. ` +
      'Export its memories with the version that wrote it (gazeway memory export), and import them into a new ' +
      'store (gazeway memory import FILE). Nothing else of it can be taken along.',
  )

/** Names are compared in lower case: SQLite treats `Tasks` and `tasks` as the same name. */
async function refuseForeign(db: Kysely<Schema>, engine: Engine, name: string): Promise<void> {
  const names = {
    sqlite: sql<{ name: string }>`select lower(name) as name from sqlite_master`,
    postgres: sql<{ name: string }>`select relname as name from pg_class
      where relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
  }[engine]
  const taken = (await names.execute(db)).rows.map((row) => row.name).filter((found) => TABLES.includes(found))
  const done = await executed(db, engine)
  // Another process that started at the same time may have created them meanwhile.
  if (isGazeways(done) || (taken.length === 0 && done.length === 0)) return
  throw new GazewayError(
    'store_unavailable',
    `The store ${name} holds tables of another program (${taken.length > 0 ? taken.sort().join(', ') : TABLE}). Give ` +
      'Gazeway a database of its own.',
  )
}

async function executed(db: Kysely<Schema>, engine: Engine): Promise<string[]> {
  const tables = {
    sqlite: sql`select name from sqlite_master where type = 'table' and name = ${TABLE}`,
    postgres: sql`select table_name from information_schema.tables
      where table_schema = current_schema() and table_name = ${TABLE}`,
  }[engine]
  if ((await tables.execute(db)).rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)} order by name`.execute(db)
  return rows.map((row) => row.name)
}
