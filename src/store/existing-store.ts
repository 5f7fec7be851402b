import { existsSync, statSync } from 'node:fs'
import type { Kysely } from 'kysely'
import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import { type Engine, engineOf } from './engine.ts'
import { isStore, stepsBehind } from './migrate.ts'
import type { Migrations } from './migrations/migrations.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** A database opened for reading, and its name without credentials. */
interface Opened {
  engine: Engine
  db: Kysely<Schema>
  name: string
}

/**
 * Reads from a store that this process does not use, without creating, migrating or writing anything.
 *
 * @param url as of `openStore`
 * @returns the result of `read`; null when the database is no Gazeway store
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function readExistingStore<T>(url: string, read: (db: Kysely<Schema>) => Promise<T>): Promise<T | null> {
  const opened = await open(url)
  if (opened === null) return null
  const { engine, db, name } = opened
  try {
    return (await isStore(db, engine, name)) ? await read(db) : null
  } finally {
    await db.destroy()
  }
}

/**
 * Opens a SQLite file that no process writes to, to read it as a store. Nothing is created, migrated or written.
 *
 * @throws GazewayError `not_found` for a file that is missing or no Gazeway store, and as {@link readExistingStore}
 */
export async function openForReading(file: string): Promise<{ store: Store; stepsBehind: number }> {
  const opened = await open(`sqlite:${file}`)
  if (opened === null) throw new GazewayError('not_found', `There is no file ${file}.`)
  const { engine, db, name } = opened
  try {
    if (!(await isStore(db, engine, name))) throw new GazewayError('not_found', `${file} is no store of Gazeway.`)
    const snapshot: Store['snapshot'] = (work) => db.transaction().setAccessMode('read only').execute(work)
    const readOnly = () => Promise.reject(new GazewayError('store_unavailable', `${file} is open for reading only.`))
    const close = () => db.destroy()
    const store = {
      engine,
      db,
      reads: db,
      lookups: db,
      snapshot,
      write: readOnly,
      check: async () => false,
      shrink: readOnly,
      close,
    }
    return { store, stepsBehind: await stepsBehind(db, engine, name) }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/**
 * Counts the migrations that a store is behind this version. Reads only.
 *
 * @param url as of `openStore`
 * @param migrations defaults to all of this version
 * @returns null when there is no database
 * @throws GazewayError as {@link readExistingStore}
 */
export async function migrationsBehind(
  url: string,
  migrations?: Migrations,
): Promise<{ name: string; steps: number } | null> {
  const opened = await open(url)
  if (opened === null) return null
  const { engine, db, name } = opened
  try {
    return { name, steps: await stepsBehind(db, engine, name, migrations) }
  } finally {
    await db.destroy()
  }
}

/**
 * Rejects a store that this version would migrate. For commands that must leave it unchanged: after a migration, the
 * older version could no longer use it.
 *
 * @param url as of `openStore`
 * @param migrations defaults to all of this version
 * @throws GazewayError `conflict`, or as {@link readExistingStore}
 */
export async function requireUpToDate(url: string, migrations?: Migrations): Promise<void> {
  const { name, steps } = (await migrationsBehind(url, migrations)) ?? { name: '', steps: 0 }
  if (steps === 0) return
  throw new GazewayError(
    'conflict',
    `The store ${name} was written by an earlier Gazeway and is ${steps} ${steps === 1 ? 'migration' : 'migrations'} behind. This command does not migrate it: ` +
      'use the version that wrote it, or migrate it first with gazeway store migrate. Earlier versions refuse the migrated store.',
  )
}

async function open(url: string): Promise<Opened | null> {
  const engine = engineOf(url)
  const opened = await OPEN[engine](url)
  return opened && { engine, ...opened }
}

const loadSqlite = lazily(() => import('./sqlite/sqlite.ts'))
const loadPostgres = lazily(() => import('./postgres/postgres.ts'))

/** Opens a database for reading. Null when it does not exist. */
const OPEN: Readonly<Record<Engine, (url: string) => Promise<Omit<Opened, 'engine'> | null>>> = {
  async sqlite(url) {
    const file = url.slice('sqlite:'.length)
    // Pipes are skipped too, since opening one would block.
    if (!existsSync(file) || !statSync(file).isFile()) return null
    const { readSqlite } = await loadSqlite()
    return { db: readSqlite(file), name: file }
  },
  postgres: async (url) => (await loadPostgres()).readPostgres(url),
}
