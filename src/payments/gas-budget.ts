import { sql, type Transaction } from 'kysely'
import type { SentTransaction } from '../chain/chain.ts'
import type { Schema } from '../store/schema.ts'
import { paymentsPaused } from './refusal.ts'

/** Purpose of a payment's transaction; the nonce of its authorization follows. */
export const PURPOSE = 'payment:'
const HOUR_MS = 3_600_000
const WEI_PER_COIN = 1e18

/**
 * Limits the gas of payments per hour. Each transaction counts with its maximum fee. Locks the account in `trx`, so
 * that concurrent processes cannot exceed the limit together.
 *
 * @param sent a transaction to store
 * @param of.limit limit per hour in whole coins
 * @throws GazewayError `payments_paused`; the transaction must then be rolled back
 */
export async function requireGasLeft(
  trx: Transaction<Schema>,
  { chain_id, address, gas, max_fee }: Pick<SentTransaction, 'chain_id' | 'address' | 'gas' | 'max_fee'>,
  { limit, at }: { limit: number; at: Date },
): Promise<void> {
  const { wei } = await trx
    .selectFrom('chain_transactions')
    // In floating point: on some chains the product exceeds 64 bits.
    .select(sql<number | null>`sum(cast(gas as double precision) * max_fee)`.as('wei'))
    .where('chain_id', '=', chain_id)
    .where('address', '=', address)
    .where('signed_at', '>', new Date(at.getTime() - HOUR_MS).toISOString())
    .where('purpose', 'like', `${PURPOSE}%`)
    .executeTakeFirstOrThrow()
  if ((wei ?? 0) + gas * max_fee <= limit * WEI_PER_COIN) return
  throw paymentsPaused(
    `Payments have used the gas limit of an hour, ${limit} coins. Retry later, or have mpp.evm.max_gas_per_hour raised.`,
  )
}
