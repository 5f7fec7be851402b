import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Engine } from '../../store/engine.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { archivedUntil } from '../archive/archives.ts'
import { bearAllowances } from '../budget/allowances.ts'
import { accountOf, lockAccounts } from '../ledger/accounts.ts'
import { borneBy, type ChargedCall, type NotedCharge, writeRecorded } from './store-receipts.ts'

/** Charges recorded in one transaction. */
const MOST = 200
/** Charges that wait while the store cannot be written. Beyond this the oldest are dropped and reported. */
const QUEUE_LIMIT = 10_000
/** Pause before another attempt, in milliseconds. */
const RETRY_MS = 1_000

/** A charge that failed, or that nobody owes. */
interface FailedCharge extends NotedCharge {
  /** Called once it is over, with what was recorded of its allowance. */
  recorded?: ((spent: Micros) => void) | undefined
  /** Called once the store has its cost, for the journal. */
  noted: (() => void) | null
}

/**
 * Records the costs of calls that are not charged: the store was away, the reservation had expired, or nobody got the
 * answer. Their callers pay nothing. Retries until the store can be written.
 */
export function createFailedCharges(store: Store, onError: (error: unknown) => void) {
  let queue: FailedCharge[] = []
  let isWaiting = false

  function end(charges: readonly FailedCharge[], isRecorded: boolean): void {
    for (const charge of charges) {
      charge.recorded?.(isRecorded ? reservedOf(charge) : 0)
      charge.noted?.()
    }
  }

  /** Records charges. Those that the store refuses for itself are dropped; all others wait. */
  async function attempt(charges: readonly FailedCharge[]): Promise<void> {
    try {
      await store.write((trx) => recordUncharged(trx, charges, store.engine))
      end(charges, true)
    } catch (error) {
      onError(error)
      if (isStoreFault(error)) wait(charges)
      else if (charges.length === 1) end(charges, false)
      else for (const charge of charges) await attempt([charge])
    }
  }

  function wait(charges: readonly FailedCharge[]): void {
    queue = [...queue, ...charges].slice(-QUEUE_LIMIT)
    if (!isWaiting) setTimeout(retry, RETRY_MS).unref()
    isWaiting = true
  }

  function retry(): void {
    isWaiting = false
    const charges = queue.slice(0, MOST)
    queue = queue.slice(MOST)
    if (charges.length > 0) void attempt(charges).then(() => queue.length > 0 && wait([]))
  }

  return {
    /** Records a charge. @returns after the first attempt, whether it succeeded or not */
    add: (charge: FailedCharge): Promise<void> => attempt([charge]),
  }
}

const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')

/**
 * Counts the upstream's cost of calls that were not charged, and stores receipts that say so. Does nothing for calls with a
 * receipt, and for those of archived months, whose receipts are not in the store any more: the journal of a process that died
 * as long ago may name them.
 *
 * @returns number of calls that were recorded
 */
export async function recordUncharged(
  trx: Transaction<Schema>,
  charges: readonly NotedCharge[],
  engine: Engine,
): Promise<number> {
  const ids = charges.map(({ receipt }) => receipt.call_id)
  const rows = await trx.selectFrom('metered_calls').select('call_id').where('call_id', 'in', ids).execute()
  const stored = new Set(rows.map(({ call_id }) => call_id))
  const until = (await archivedUntil(trx)) ?? ''
  const fresh = charges.filter(({ receipt }) => !stored.has(receipt.call_id) && receipt.at >= until)
  if (fresh.length === 0) return 0
  const callers = [...new Set(fresh.map(({ receipt }) => receipt.caller_id))].sort()
  // Accounts before allowances: the lock order of the sweep.
  await lockAccounts(
    trx,
    (['caller', 'held'] as const).flatMap((kind) => callers.map((caller) => accountOf(kind, caller))),
  )
  const spends = fresh.map(({ allowanceId, receipt, beyondMicros = 0, absorbedBeyondMicros = 0, session }) => ({
    spender: { id: receipt.caller_id, groupId: receipt.group_id, session },
    day: receipt.counted_on,
    micros: billedOf(receipt),
    beyondMicros: beyondMicros + absorbedBeyondMicros,
    allowanceId,
    receipt: { ...receipt, charged: 0, margin_micros: 0 },
    written() {},
  }))
  await bearAllowances(
    trx,
    fresh.map((charge) => borneBy(charge.allowanceId, charge.receipt, reservedOf(charge))),
  )
  await writeRecorded(trx, spends, engine)
  return fresh.length
}

/** Sums what the provider billed: the part of the caller, and that of the operator. */
const billedOf = ({ upstream_cost_micros, absorbed_micros }: ChargedCall): Micros =>
  upstream_cost_micros + absorbed_micros

/** Part of what the provider billed that was reserved. */
const reservedOf = ({ receipt, beyondMicros = 0, absorbedBeyondMicros = 0 }: NotedCharge): Micros =>
  billedOf(receipt) - beyondMicros - absorbedBeyondMicros
