import { sql, type Transaction } from 'kysely'
import type { SentTransaction } from '../chain/transactions.ts'
import type { Schema } from '../store/schema.ts'
import { paymentsPaused } from './refusal.ts'

/** What a payment's transaction is for, before its authorization's nonce. */
export const PURPOSE = 'payment:'
const HOUR_MS = 3_600_000
const WEI_PER_COIN = 1e18

/**
 * Caps the gas of payments: refuses a transaction that would take those of the last hour above the limit. Each counts with
 * the most that it may cost. The account is locked in `trx`, so that no two processes pass together.
 *
 * @param sent a transaction that is about to be stored
 * @param of.limit the most within an hour, in whole coins
 * @throws GazewayError `payments_paused`; the transaction must then be given up
 */
export async function requireGasLeft(
  trx: Transaction<Schema>,
  { chain_id, address, gas, max_fee }: Pick<SentTransaction, 'chain_id' | 'address' | 'gas' | 'max_fee'>,
  { limit, at }: { limit: number; at: Date },
): Promise<void> {
  const { wei } = await trx
    .selectFrom('chain_transactions')
    // As real numbers: their product is beyond 64 bits on some chains.
    .select(sql<number | null>`sum(cast(gas as double precision) * max_fee)`.as('wei'))
    .where('chain_id', '=', chain_id)
    .where('address', '=', address)
    .where('signed_at', '>', new Date(at.getTime() - HOUR_MS).toISOString())
    .where('purpose', 'like', `${PURPOSE}%`)
    .executeTakeFirstOrThrow()
  if ((wei ?? 0) + gas * max_fee <= limit * WEI_PER_COIN) return
  throw paymentsPaused(
    `Payments have cost the most gas that they may within an hour, ${limit} coins (mpp.evm.max_gas_per_hour).`,
  )
}
