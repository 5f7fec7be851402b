import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import { runBuiltRows } from '../../store/built.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { newId } from '../../text/ids.ts'
import { spendAllowances } from '../budget/allowances.ts'
import { addSpending } from '../budget/spending.ts'
import { accountOf, lockAccounts } from '../ledger/accounts.ts'
import { post } from '../ledger/ledger.ts'
import { costOf } from './receipts.ts'
import { addUsage } from './usage-sums.ts'

/** Maximum number of charges per transaction. Keeps transactions short for others that wait. */
const MOST = 200

/** The receipt of a charged call, before the transfer that takes its money. */
export type ChargedCall = Omit<MeteredCallRow, 'transfer'>

/** A call to charge to an allowance. */
export interface Charge {
  allowanceId: string
  /**
   * Its receipt. Only cost and margin leave the allowance; the rest of the reservation stays.
   */
  receipt: ChargedCall
  /**
   * Stores the reply to the caller in the transaction of the charge. Such a charge has a transaction of its own: when
   * another attempt has replied, it fails alone.
   */
  keep?: ((trx: Transaction<Schema>) => Promise<void>) | undefined
}

/**
 * Charges a call and stores its receipt. Calls that end while a transaction runs are charged together in the next one,
 * except those with a reply to keep.
 *
 * @returns once both are durable
 * @throws GazewayError `upstream_timeout` when the reservation was given back meanwhile, or the error of
 *   `keep` or of the store; nothing is charged then
 */
export type ChargeCall = (charge: Charge) => Promise<void>

interface Queued extends Charge {
  resolve(): void
  reject(error: unknown): void
}

/** Creates the charging function for `store`. */
export function createCharges(store: Store): ChargeCall {
  let queue: Queued[] = []
  let writing = false

  async function writeQueued(): Promise<void> {
    writing = true
    // Calls that end in the same turn share a transaction.
    await new Promise(setImmediate)
    while (queue.length > 0) {
      const batch = queue.slice(0, MOST)
      queue = queue.slice(batch.length)
      await chargeAll(store, batch).then(
        (gone) => {
          for (const { receipt, resolve, reject } of batch) gone.has(receipt.call_id) ? reject(givenBack()) : resolve()
        },
        (error: unknown) => {
          for (const { reject } of batch) reject(error)
        },
      )
    }
    writing = false
  }

  return async (charge) => {
    if (charge.keep === undefined)
      return new Promise((resolve, reject) => {
        queue.push({ ...charge, resolve, reject })
        if (!writing) void writeQueued()
      })
    if ((await chargeAll(store, [charge])).size > 0) throw givenBack()
  }
}

/** @returns ids of the calls that were not charged because their allowance is gone */
async function chargeAll(store: Store, batch: readonly Charge[]): Promise<ReadonlySet<string>> {
  // Outside the transaction, which may be retried.
  const transfer = `charge:${newId('call')}`
  return store.write(async (trx) => {
    const written = await writtenOf(trx, batch)
    if (written.size > 0) return new Set(idsOf(batch).filter((id) => !written.has(id)))
    const callers = [...new Set(batch.map(({ receipt }) => receipt.caller_id))].sort()
    // Accounts before allowances: the lock order of the sweep.
    await lockAccounts(
      trx,
      callers.map((caller) => accountOf('held', caller)),
    )
    const gone = new Set(await spendAllowances(trx, batch.map(spentOf)))
    const charged = batch.filter(({ allowanceId }) => !gone.has(allowanceId)).map(({ receipt }) => receipt)
    for (const caller of callers) {
      const receipts = charged.filter((receipt) => receipt.caller_id === caller)
      if (receipts.length > 0) await take(trx, receipts, `${transfer}:${caller}`)
    }
    await addUsage(trx, charged)
    await addSpending(trx, 'charged', charged.map(spendingOf))
    for (const { allowanceId, keep } of batch) if (!gone.has(allowanceId)) await keep?.(trx)
    return new Set(idsOf(batch.filter(({ allowanceId }) => gone.has(allowanceId))))
  })
}

const idsOf = (charges: readonly Charge[]): string[] => charges.map(({ receipt }) => receipt.call_id)
const spentOf = ({ allowanceId, receipt }: Charge) => ({ id: allowanceId, micros: costOf(receipt) })
const spendingOf = (receipt: ChargedCall) => ({
  spender: { id: receipt.caller_id, groupId: receipt.group_id },
  day: receipt.counted_on,
  micros: costOf(receipt),
})

/** Finds calls with a stored receipt: the connection was lost after their commit. */
async function writtenOf(trx: Transaction<Schema>, batch: readonly Charge[]): Promise<ReadonlySet<string>> {
  const rows = await trx.selectFrom('metered_calls').select('call_id').where('call_id', 'in', idsOf(batch)).execute()
  return new Set(rows.map(({ call_id }) => call_id))
}

/** Charges the calls of one caller in one transfer, which their receipts name. */
async function take(trx: Transaction<Schema>, receipts: readonly ChargedCall[], key: string): Promise<void> {
  const sum = (of: (receipt: ChargedCall) => number) => receipts.reduce((all, receipt) => all + of(receipt), 0)
  const [{ caller_id: caller, at }] = receipts as [ChargedCall]
  const entries = [
    { account: accountOf('held', caller), micros: -sum(costOf) },
    { account: accountOf('revenue', caller), micros: sum(({ margin_micros }) => margin_micros) },
    { account: accountOf('upstream_cost', caller), micros: sum((receipt) => receipt.upstream_cost_micros) },
  ].filter(({ micros }) => micros !== 0)
  // Empty when calls are free. Their receipts name the transfer all the same.
  if (entries.length > 0) await post(trx, { key, kind: 'charge', entries, at })
  const rows = receipts.map((receipt) => ({ ...receipt, transfer: key }))
  await runBuiltRows(trx, 'insert receipts', rows, (part) => trx.insertInto('metered_calls').values(part).compile())
}

function givenBack(): GazewayError {
  return new GazewayError(
    'upstream_timeout',
    'The answer came after its reservation had expired; nothing was charged. Retry.',
  )
}
