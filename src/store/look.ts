import { existsSync, statSync } from 'node:fs'
import type { Kysely } from 'kysely'
import { GazewayError } from '../errors.ts'
import { type Engine, engineOf } from './engine.ts'
import { isStore, stepsBehind } from './migrate.ts'
import type { Migrations } from './migrations/migrations.ts'
import type { Schema } from './schema.ts'

/** A database that is only read, and its name without credentials. */
interface Opened {
  engine: Engine
  db: Kysely<Schema>
  name: string
}

/**
 * Looks into a store that this process does not use: nothing is made there, migrated or written.
 *
 * @param url as of `openStore`
 * @returns what `look` finds; null where no Gazeway has made a store
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function lookInto<T>(url: string, look: (db: Kysely<Schema>) => Promise<T>): Promise<T | null> {
  const opened = await open(url)
  if (opened === null) return null
  const { engine, db, name } = opened
  try {
    return (await isStore(db, engine, name)) ? await look(db) : null
  } finally {
    await db.destroy()
  }
}

/**
 * Refuses a store that this version would bring up to date, for commands that promise to leave it as it is: the version
 * that wrote it could not use it any more.
 *
 * @param url as of `openStore`
 * @param migrations all of this version, when absent
 * @throws GazewayError `conflict`, or as {@link lookInto}
 */
export async function requireUpToDate(url: string, migrations?: Migrations): Promise<void> {
  const opened = await open(url)
  if (opened === null) return
  const { engine, db, name } = opened
  try {
    const steps = await stepsBehind(db, engine, name, migrations)
    if (steps > 0)
      throw new GazewayError(
        'conflict',
        `The store ${name} was written by an earlier Gazeway and is ${steps} ${steps === 1 ? 'step' : 'steps'} behind. This command leaves it as it is: ` +
          'use the version that wrote it, or start this one on it first, which brings it up to date; earlier ones refuse it then.',
      )
  } finally {
    await db.destroy()
  }
}

async function open(url: string): Promise<Opened | null> {
  const engine = engineOf(url)
  const opened = await OPEN[engine](url)
  return opened && { engine, ...opened }
}

/** Opens a database that is only read; null where there is none. */
const OPEN: Readonly<Record<Engine, (url: string) => Promise<Omit<Opened, 'engine'> | null>>> = {
  async sqlite(url) {
    const file = url.slice('sqlite:'.length)
    // Nor a pipe, which would be waited for.
    if (!existsSync(file) || !statSync(file).isFile()) return null
    const { readSqlite } = await import('./sqlite/sqlite.ts')
    return { db: readSqlite(file), name: file }
  },
  postgres: async (url) => (await import('./postgres/postgres.ts')).readPostgres(url),
}
