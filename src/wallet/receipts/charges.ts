import type { Transaction } from 'kysely'
import type { Engine } from '../../store/engine.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { LedgerAccountRow } from '../../store/tables/wallet-tables.ts'
import { newId } from '../../text/ids.ts'
import type { Micros } from '../../text/money.ts'
import { type AllowanceBorne, bearAllowances, chargeAllowances, givenBack } from '../budget/allowances.ts'
import { addSpending, dayOf, type Spent } from '../budget/spending.ts'
import { accountOf, lockAccounts } from '../ledger/accounts.ts'
import { openTime } from '../ledger/closed-periods.ts'
import { post } from '../ledger/ledger.ts'
import { createFailedCharges } from './failed-charges.ts'
import { costOf } from './receipts.ts'
import { borneBy, type ChargedCall, type NotedCharge, storeReceipts } from './store-receipts.ts'
import { addUsage } from './usage-sums.ts'

/** Maximum number of charges per transaction. Keeps transactions short for others that wait. */
const MOST = 200

/** A call to charge to an allowance. */
export interface Charge {
  allowanceId: string
  /**
   * Its receipt. Only cost and margin leave the allowance; the rest of the reservation stays.
   */
  receipt: ChargedCall
  /** Part of the cost that was not reserved. It is taken from the account even where that has not as much. */
  beyondMicros?: Micros | undefined
  /** Part of what the operator bears that was not reserved either; 0 by default. */
  absorbedBeyondMicros?: Micros | undefined
  /** Name of the spending of the session whose budget it counts in; none by default. */
  session?: string | null | undefined
  /** Credit of the caller, which tells how much of the cost becomes debt; none by default. */
  creditMicros?: Micros | undefined
  /**
   * Stores the reply to the caller in the transaction of the charge. Such a charge has a transaction of its own: when
   * another attempt has replied, it fails alone.
   */
  keep?: ((trx: Transaction<Schema>) => Promise<void>) | undefined
  /** Called when the call is recorded instead of charged, with the part of the allowance that the provider billed. */
  recorded?: ((spent: Micros) => void) | undefined
}

/** Options of {@link createCharges}. */
export interface ChargesOptions {
  /** Notes a charge in the journal of the process, and returns what is called once the store has it; none by default. */
  note?: (charge: NotedCharge) => (() => void) | null
  /** Called with errors of the store while the cost of a failed charge is recorded; ignored by default. */
  onError?: (error: unknown) => void
}

/**
 * Charges a call and stores its receipt. Calls that end while a transaction runs are charged together in the next one,
 * except those with a reply to keep. The cost of a charge that fails is recorded in its place as soon as the store
 * allows: budgets count it, and its caller does not pay it. So is the cost of a receipt that is not `charged`, because
 * nobody got the answer.
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
export function createCharges(
  store: Store,
  { note = () => null, onError = () => {} }: ChargesOptions = {},
): ChargeCall {
  const failed = createFailedCharges(store, onError)
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

  async function chargeOnce(charge: Charge): Promise<void> {
    if (charge.keep === undefined)
      return new Promise((resolve, reject) => {
        queue.push({ resolve, reject, ...charge })
        if (!writing) void writeQueued()
      })
    if ((await chargeAll(store, [charge])).size > 0) throw givenBack()
  }

  return async (charge) => {
    const { allowanceId, receipt, beyondMicros, absorbedBeyondMicros, session } = charge
    const noted = note({ allowanceId, receipt, beyondMicros, absorbedBeyondMicros, session })
    if (receipt.charged === 0) return failed.add({ ...charge, noted })
    try {
      await chargeOnce(charge)
    } catch (error) {
      await failed.add({ ...charge, noted })
      throw error
    }
    noted?.()
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
    /** Callers whose spendable money changes, too. */
    const owing = callers.filter((caller) =>
      batch.some(
        ({ receipt, beyondMicros = 0 }) =>
          receipt.caller_id === caller && (beyondMicros > 0 || receipt.absorbed_micros > 0),
      ),
    )
    // Accounts before allowances: the lock order of the sweep.
    const accounts = await lockAccounts(trx, [
      ...owing.map((caller) => accountOf('caller', caller)),
      ...callers.map((caller) => accountOf('held', caller)),
    ])
    const gone = new Set(await chargeAllowances(trx, batch.map(spentOf)))
    const covered = batch.filter(({ allowanceId }) => !gone.has(allowanceId))
    const charged = withDebts(covered, accounts)
    const beyond = new Map(covered.map(({ receipt, beyondMicros = 0 }) => [receipt.call_id, beyondMicros]))
    const booked: ChargedCall[] = []
    const groups = [...byCallerAndDay(charged)].sort(([a], [b]) => (a < b ? -1 : 1))
    // Each receipt has the key of its transfer, and the transfer has it twice: it is short.
    for (const [number, [, receipts]] of groups.entries())
      booked.push(...(await take(trx, receipts, { key: `${transfer}:${number}`, engine: store.engine, beyond })))
    await addUsage(trx, booked)
    await addSpending(trx, 'charged', covered.map(spendingOf))
    const absorbing = covered.filter(({ receipt }) => receipt.absorbed_micros > 0)
    await bearAllowances(trx, absorbing.map(borneOf))
    await addSpending(trx, 'recorded', absorbing.map(absorbedOf))
    for (const { allowanceId, keep } of batch) if (!gone.has(allowanceId)) await keep?.(trx)
    return new Set(idsOf(batch.filter(({ allowanceId }) => gone.has(allowanceId))))
  })
}

const idsOf = (charges: readonly Charge[]): string[] => charges.map(({ receipt }) => receipt.call_id)
const spentOf = ({ allowanceId, receipt, beyondMicros = 0 }: Charge) => ({
  id: allowanceId,
  micros: costOf(receipt) - beyondMicros,
})
const spendingOf = ({ receipt, beyondMicros = 0, session }: Charge) => ({
  spender: { id: receipt.caller_id, groupId: receipt.group_id, session },
  day: receipt.counted_on,
  micros: costOf(receipt),
  beyondMicros,
})

/** Part of a call's cost that the operator bears. Budgets count it. */
const absorbedOf = (charge: Charge): Spent => ({
  ...spendingOf(charge),
  micros: charge.receipt.absorbed_micros,
  beyondMicros: charge.absorbedBeyondMicros ?? 0,
})

/** Reserved part of what the operator bears. */
const borneOf = ({ allowanceId, receipt, absorbedBeyondMicros = 0 }: Charge): AllowanceBorne =>
  borneBy(allowanceId, receipt, receipt.absorbed_micros - absorbedBeyondMicros)

/**
 * Adds to receipts the part of their cost that neither was reserved nor does the credit of their callers hold.
 *
 * @param accounts what the callers can spend, and what is reserved for their calls
 */
function withDebts(charges: readonly Charge[], accounts: readonly LedgerAccountRow[]): ChargedCall[] {
  const balances = new Map<string, Micros>()
  for (const { owner, balance_micros } of accounts) balances.set(owner, (balances.get(owner) ?? 0) + balance_micros)
  return charges.map(({ receipt, beyondMicros = 0, creditMicros = 0 }) => {
    const before = balances.get(receipt.caller_id) ?? 0
    const after = before - costOf(receipt)
    balances.set(receipt.caller_id, after)
    const owed = (balance: Micros) => Math.max(0, -balance - creditMicros)
    return { ...receipt, debt_micros: Math.min(beyondMicros, owed(after) - owed(before)) }
  })
}

/** Finds calls with a stored receipt: the connection was lost after their commit. */
async function writtenOf(trx: Transaction<Schema>, batch: readonly Charge[]): Promise<ReadonlySet<string>> {
  const rows = await trx.selectFrom('metered_calls').select('call_id').where('call_id', 'in', idsOf(batch)).execute()
  return new Set(rows.map(({ call_id }) => call_id))
}

/** Groups receipts by caller and day, so that a transfer is of the day of its receipts. */
function byCallerAndDay(receipts: readonly ChargedCall[]): Map<string, ChargedCall[]> {
  const groups = new Map<string, ChargedCall[]>()
  for (const receipt of receipts) {
    const of = `${receipt.caller_id}:${dayOf(receipt.at)}`
    groups.set(of, [...(groups.get(of) ?? []), receipt])
  }
  return groups
}

/**
 * Charges calls of one caller in one transfer, which their receipts name.
 *
 * @returns the receipts as stored: those of a period that was closed meanwhile are dated to the moment after it
 */
async function take(
  trx: Transaction<Schema>,
  receipts: readonly ChargedCall[],
  { key, engine, beyond }: { key: string; engine: Engine; beyond: ReadonlyMap<string, Micros> },
): Promise<ChargedCall[]> {
  const sum = (of: (receipt: ChargedCall) => number) => receipts.reduce((all, receipt) => all + of(receipt), 0)
  const [{ caller_id: caller }] = receipts as [ChargedCall]
  const unreserved = sum(({ call_id }) => beyond.get(call_id) ?? 0)
  const first = receipts.map(({ at }) => at).sort()[0] as string
  const entries = [
    { account: accountOf('held', caller), micros: unreserved - sum(costOf) },
    { account: accountOf('caller', caller), micros: -unreserved, floor: null },
    { account: accountOf('revenue', caller), micros: sum(({ margin_micros }) => margin_micros) },
    { account: accountOf('upstream_cost', caller), micros: sum((receipt) => receipt.upstream_cost_micros) },
  ].filter(({ micros }) => micros !== 0)
  // Empty when calls are free. Their receipts name the transfer all the same.
  const opens =
    entries.length > 0
      ? (await post(trx, { key, kind: 'charge', entries, at: first })).at
      : await openTime(trx, engine, first)
  const booked = receipts.map((receipt) => (receipt.at < opens ? { ...receipt, at: opens } : receipt))
  await storeReceipts(trx, booked, key)
  return booked
}
