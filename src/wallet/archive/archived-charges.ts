import type { Entry } from '../ledger/transfer.ts'
import { type ChargeSums, sameMoney } from '../receipts/charge-check.ts'
import { blocksOf } from './archived-receipts.ts'
import { type Archive, readBlock } from './read-archive.ts'

/** A transfer that receipts name, and their sums. */
interface ArchivedCharge extends ChargeSums {
  /** Undefined where the archive does not have it: it moved nothing, or is of another month. */
  entries: Entry[] | undefined
  at: string | null
}

/** Reads the transfers of an archive that took money of calls, and the sums of the receipts in it that name them. */
export async function readCharges(archive: Archive): Promise<ReadonlyMap<string, ArchivedCharge>> {
  const charges = new Map<string, ArchivedCharge>()
  for (const block of blocksOf(archive.facts.blocks, 'transfers'))
    for (const { key, entries, at } of await readBlock(archive, block))
      if (/^(charge|capture):/.test(key))
        charges.set(key, { entries: JSON.parse(entries), at, caller_id: '', margin: 0, cost: 0 })
  for (const block of blocksOf(archive.facts.blocks, 'receipts'))
    for (const { transfer, caller_id, margin_micros, upstream_cost_micros } of await readBlock(archive, block)) {
      if (transfer === null) continue
      const { entries, at, margin, cost } = charges.get(transfer) ?? NOT_HERE
      const sums = { margin: margin + margin_micros, cost: cost + upstream_cost_micros }
      charges.set(transfer, { entries, at, caller_id, ...sums })
    }
  return charges
}

const NOT_HERE: ArchivedCharge = { entries: undefined, at: null, caller_id: '', margin: 0, cost: 0 }

/** Transfers of which another month has receipts, or the transfer itself: earlier versions made such ones. */
export const chargesApart = (charges: ReadonlyMap<string, ArchivedCharge>): ReadonlySet<string> =>
  new Set([...charges].filter(([, charge]) => !sameMoney(charge, charge.entries)).map(([key]) => key))
