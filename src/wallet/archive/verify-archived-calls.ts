import type { Store } from '../../store/store.ts'
import type { MeteredCallRow, MeteredUsageRow } from '../../store/tables/wallet-tables.ts'
import { dayOf } from '../budget/spending.ts'
import type { Days } from '../receipts/archived-calls.ts'
import { unequalCharges } from '../receipts/charge-check.ts'
import { costOf } from '../receipts/receipts.ts'
import { addTo } from '../receipts/spending-check.ts'
import { addToUsage, type UsageSumsByKey, usageKey } from '../receipts/usage-sums.ts'
import { SUMMED_COLUMNS, tokenFaultsOf } from '../receipts/verify-usage.ts'
import { chargesApart, readCharges } from './archived-charges.ts'
import { blocksOf } from './archived-receipts.ts'
import { type Archive, readBlock } from './read-archive.ts'

/** Charged amounts by owner and day of spending, over all archives. */
export interface CallSums {
  ofCallers: Map<string, Days>
  ofGroups: Map<string, Days>
}

export const createCallSums = (): CallSums => ({ ofCallers: new Map(), ofGroups: new Map() })

/**
 * Compares the receipts of an archive with its transfers, their tokens with their cost, and their sums with those that the store
 * has. Adds them to what was charged by day.
 */
export async function* checkCalls(store: Store, archive: Archive, sums: CallSums): AsyncGenerator<string> {
  const charges = await readCharges(archive)
  const usage: UsageSumsByKey = new Map()
  for (const block of blocksOf(archive.facts.blocks, 'receipts'))
    for (const receipt of await readBlock(archive, block)) {
      addToUsage(usage, receipt)
      addSpent(sums, receipt)
      if (receipt.transfer === null && receipt.charged === 1 && costOf(receipt) > 0)
        yield `Receipt ${receipt.call_id}: no transfer in the ledger took its money.`
      yield* tokenFaultsOf({ ...receipt, booked_at: charges.get(receipt.transfer ?? '')?.at ?? null })
    }
  // The store has all of those that are not all in this month.
  for (const key of await unequalCharges(store.db, [...chargesApart(charges)]))
    yield `Transfer ${key}: its amounts differ from the sum of its receipts.`
  yield* usageFaults(store, archive, usage)
}

function addSpent({ ofCallers, ofGroups }: CallSums, receipt: MeteredCallRow): void {
  if (receipt.charged === 0) return
  const add = (owners: Map<string, Days>, owner: string) => {
    const days = owners.get(owner) ?? new Map()
    owners.set(owner, days)
    addTo(days, receipt.counted_on, costOf(receipt))
  }
  add(ofCallers, receipt.caller_id)
  if (receipt.group_id !== null) add(ofGroups, receipt.group_id)
}

/** Compares the sums of an archive's receipts with those of its days that the store has. */
async function* usageFaults({ db }: Store, { path, facts }: Archive, usage: UsageSumsByKey): AsyncGenerator<string> {
  const stored = await db
    .selectFrom('metered_usage')
    .selectAll()
    .where('day', '>=', dayOf(facts.starts_at))
    .where('day', '<', dayOf(facts.ends_at))
    .execute()
  const same = (a: MeteredUsageRow, b: MeteredUsageRow | undefined) =>
    SUMMED_COLUMNS.every((column) => Number(a[column]) === Number(b?.[column] ?? 0))
  const names = new Set(stored.map(usageKey))
  const lone = [...usage].filter(([name]) => !names.has(name)).map(([, row]) => row)
  for (const row of stored) if (!same(row, usage.get(usageKey(row)))) yield usageFault(row, path)
  for (const row of lone) yield usageFault(row, path)
}

const usageFault = ({ caller_id, day, model }: MeteredUsageRow, path: string): string =>
  `Usage of ${caller_id} on ${day} with ${model}: the stored sums are not those of the receipts in ${path}.`
