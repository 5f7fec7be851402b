import type { Transaction } from 'kysely'
import type { CallSpend } from '../../calls/call-spend.ts'
import type { Engine } from '../../store/engine.ts'
import { runBuiltRows } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import type { Micros } from '../../text/money.ts'
import { type AllowanceBorne, writeCallSpending } from '../budget/allowances.ts'
import { openTime } from '../ledger/closed-periods.ts'
import { numberPrices } from './receipt-prices.ts'
import { addUsage } from './usage-sums.ts'

/** The receipt of a charged call, before the transfer that takes its money. */
export type ChargedCall = Omit<MeteredCallRow, 'transfer'>

/** A charge as a journal keeps it. */
export interface NotedCharge {
  allowanceId: string
  receipt: ChargedCall
  /** Part of the cost that was not reserved. */
  beyondMicros?: Micros | undefined
  /** Part of what the operator bears that was not reserved. */
  absorbedBeyondMicros?: Micros | undefined
  /** Name of the spending of the session whose budget it counts in. */
  session?: string | null | undefined
}

/** Names the allowance that an amount was reserved in which the caller of a receipt does not pay. */
export const borneBy = (
  id: string,
  { caller_id, group_id, call_id, at }: ChargedCall,
  micros: Micros,
): AllowanceBorne => ({
  ...{ id, micros, at },
  spender: { id: caller_id, groupId: group_id },
  callId: call_id,
})

/** Stores receipts of recorded calls, whose money does not move, and adds them to the sums. */
async function recordReceipts(
  trx: Transaction<Schema>,
  engine: Engine,
  receipts: readonly ChargedCall[],
): Promise<void> {
  if (receipts.length === 0) return
  const opens = await openTime(trx, engine, receipts.map(({ at }) => at).sort()[0] as string)
  const booked = receipts.map((receipt) => (receipt.at < opens ? { ...receipt, at: opens } : receipt))
  await storeReceipts(trx, booked, null)
  await addUsage(trx, booked)
}

/** Writes the spending of recorded calls, and their receipts where there are any. */
export async function writeRecorded(
  trx: Transaction<Schema>,
  spends: readonly CallSpend[],
  engine: Engine,
): Promise<void> {
  await writeCallSpending(trx, spends)
  await recordReceipts(
    trx,
    engine,
    spends.flatMap(({ receipt }) => receipt ?? []),
  )
}

/** Stores receipts. @param transfer the transfer that took their money; null when none was taken */
export async function storeReceipts(
  trx: Transaction<Schema>,
  receipts: readonly ChargedCall[],
  transfer: string | null,
): Promise<void> {
  const numbers = await numberPrices(
    trx,
    receipts.map(({ price }) => price),
  )
  const rows = receipts.map((receipt) => {
    const price_number = numbers.get(receipt.price) ?? null
    return { transfer, ...receipt, price: price_number === null ? receipt.price : '', price_number }
  })
  await runBuiltRows(trx, 'insert receipts', rows, (part) => trx.insertInto('metered_calls').values(part).compile())
}
