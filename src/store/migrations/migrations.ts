import type { Kysely } from 'kysely'
import type { Engine } from '../engine.ts'
import { up as initial } from './001_initial.ts'

/** Brings the store forward by one step; forward only. */
export type Migrate = (db: Kysely<unknown>, engine: Engine) => Promise<void>

/** Migrations by name, in order. */
export type Migrations = Readonly<Record<string, Migrate>>

/** All migrations. A name, once released, never changes. */
export const MIGRATIONS: Migrations = {
  '001_initial': initial,
}
