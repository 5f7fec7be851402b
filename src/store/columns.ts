import { type RawBuilder, sql } from 'kysely'

/** The engines that the same queries run on. */
export type Engine = 'sqlite' | 'postgres'

/**
 * Column types for migrations, per engine. Services see the same TypeScript types on both: JSON as text, times as
 * RFC 3339 UTC strings with milliseconds, integers as numbers.
 */
export interface Columns {
  /** JSON document, read and written as text. */
  json: RawBuilder<unknown>
  /** RFC 3339 UTC time with milliseconds, read and written as a string that sorts by time. */
  time: RawBuilder<unknown>
  /** 64-bit integer (counts, micro-dollars). */
  integer: RawBuilder<unknown>
  /** Double-precision number. */
  real: RawBuilder<unknown>
  /** Primary key that the engine numbers by itself. */
  sequence: RawBuilder<unknown>
  /** Text compared byte by byte, so that both engines order and range-scan alike. */
  text: RawBuilder<unknown>
}

const SQLITE: Columns = {
  json: sql`text`,
  time: sql`text`,
  integer: sql`integer`,
  real: sql`real`,
  sequence: sql`integer primary key autoincrement`,
  text: sql`text`,
}

const POSTGRES: Columns = {
  json: sql`jsonb`,
  time: sql`timestamptz(3)`,
  integer: sql`bigint`,
  real: sql`double precision`,
  sequence: sql`bigint generated always as identity primary key`,
  text: sql`text collate "C"`,
}

/** The column types of `engine`. */
export const columns = (engine: Engine): Columns => (engine === 'sqlite' ? SQLITE : POSTGRES)
