import { type RawBuilder, sql } from 'kysely'
import type { Engine } from '../../store/engine.ts'

/** Beginning of the tokens of speech in a stored price, of which they are the last member. */
const AUDIO = ',"audio":{'

/**
 * The rates of a receipt's stored price, without its tokens of speech: calls at the same rates are summed in one row.
 *
 * @example ratesIn('{"input":1,"audio":{"input_tokens":9}}') // '{"input":1}'
 */
export function ratesIn(price: string): string {
  const at = price.indexOf(AUDIO)
  return at < 0 ? price : `${price.slice(0, at)}}`
}

/** Position of those tokens in the column `price`, from 1; 0 for none. */
const POSITION: Readonly<Record<Engine, RawBuilder<number>>> = {
  sqlite: sql`instr(price, ${AUDIO})`,
  postgres: sql`strpos(price, ${AUDIO})`,
}

/** The same of the column `price`. */
export function ratesColumn(engine: Engine): RawBuilder<string> {
  const at = POSITION[engine]
  return sql`case when ${at} > 0 then substr(price, 1, ${at} - 1) || '}' else price end`
}
