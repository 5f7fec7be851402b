import { type RawBuilder, sql } from 'kysely'
import { MEDIA } from '../../providers/preset.ts'
import type { Engine } from '../../store/engine.ts'

/** Beginnings of the tokens of media in a stored price, of which they are the last members, in this order. */
const BEGINNINGS = MEDIA.map((medium) => `,"${medium}":{`)

/**
 * The rates of a receipt's stored price, without its tokens of media: calls at the same rates are summed in one row.
 *
 * @example ratesIn('{"input":1,"audio":{"input_tokens":9}}') // '{"input":1}'
 */
export function ratesIn(price: string): string {
  const at = BEGINNINGS.map((beginning) => price.indexOf(beginning)).find((found) => found >= 0)
  return at === undefined ? price : `${price.slice(0, at)}}`
}

/** Function that finds a text in another one: its position from 1; 0 for none. */
const POSITION: Readonly<Record<Engine, string>> = { sqlite: 'instr', postgres: 'strpos' }

/** The same of the column `price`. */
export function ratesColumn(engine: Engine): RawBuilder<string> {
  const found = BEGINNINGS.map((beginning) => sql`nullif(${sql.raw(POSITION[engine])}(price, ${beginning}), 0)`)
  return sql`coalesce(substr(price, 1, coalesce(${sql.join(found)}) - 1) || '}', price)`
}
