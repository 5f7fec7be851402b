import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { ratesIn } from './price-rates.ts'

/** SQL for the price of a receipt of `metered_calls`, as JSON. Empty for receipts of earlier versions. */
export const PRICE = sql<string>`coalesce(
  (select named.price from receipt_prices as named where named.number = metered_calls.price_number),
  metered_calls.price)`

/**
 * Numbers the prices of receipts, which most calls to a model share. A price with tokens of media is that of one call,
 * and has no number.
 */
export async function numberPrices(
  trx: Transaction<Schema>,
  prices: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const shared = [...new Set(prices)].filter((price) => price !== '' && ratesIn(price) === price).sort()
  const known = await numbersOf(trx, shared)
  const others = shared.filter((price) => !known.has(price))
  if (others.length === 0) return known
  await trx
    .insertInto('receipt_prices')
    .values(others.map((price) => ({ price })))
    .onConflict((conflict) => conflict.column('price').doNothing())
    .execute()
  return numbersOf(trx, shared)
}

async function numbersOf(trx: Transaction<Schema>, prices: readonly string[]): Promise<Map<string, number>> {
  if (prices.length === 0) return new Map()
  const rows = await trx.selectFrom('receipt_prices').selectAll().where('price', 'in', prices).execute()
  return new Map(rows.map(({ price, number }) => [price, number]))
}
