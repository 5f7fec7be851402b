import pg from 'pg'

/** Object ids of PostgreSQL's types (pg_type.dat). */
const BYTEA = 17
const INT8 = 20
const JSON_TEXT = 114
const NUMERIC = 1700
const TIMESTAMPTZ = 1184

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [BYTEA]: toBytes,
  [INT8]: Number,
  [NUMERIC]: Number,
  [JSON_TEXT]: (text) => text,
  [TIMESTAMPTZ]: toTime,
}

/**
 * Parsers for PostgreSQL's values, with the same TypeScript types as SQLite. 64-bit integers and sums are numbers
 * (exact up to 2^53), bytes are a plain array, JSON is the stored text, times are RFC 3339 UTC strings with milliseconds.
 */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => PARSERS[oid] ?? pg.types.getTypeParser(oid, format),
}

/** Parses bytes in PostgreSQL's hexadecimal form, `\x00ff`. */
function toBytes(text: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text.slice(2), 'hex')
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/**
 * Parses a time.
 *
 * @param text a time in PostgreSQL's ISO style, in the session's time zone
 * @example toTime('2026-11-21 08:17:52.5+01') // '2026-11-21T07:17:52.500Z'
 */
export function toTime(text: string): string {
  const utc = text.endsWith('+00')
  if (utc && text.length === 22) return `${text.slice(0, 10)}T${text.slice(11, 19)}.000Z`
  if (utc && text.length <= 26) return `${text.slice(0, 10)}T${text.slice(11, -3).padEnd(12, '0')}Z`
  const offset = /[+-]\d\d$/.test(text) ? ':00' : ''
  return new Date(`${text.replace(' ', 'T')}${offset}`).toISOString()
}
