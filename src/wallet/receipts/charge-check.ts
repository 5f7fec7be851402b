import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Engine } from '../../store/engine.ts'
import type { Schema } from '../../store/schema.ts'
import { accountOf } from '../ledger/accounts.ts'
import type { Entry } from '../ledger/transfer.ts'
import type { CheckedReceipt } from './receipts-by-caller.ts'

/** Transfers looked up per statement. */
const LOOKED_FOR = 500
/** Transfers that may wait for more receipts at a time. More do when most receipts are wrong. */
const MOST_OPEN = 10_000
/** Kinds of transfers that take the money of calls. Earlier versions took it by a capture for each metered call. */
const KINDS = ['capture', 'charge']

/** Sums of the receipts of a transfer. */
export interface ChargeSums {
  caller_id: string
  margin: number
  cost: number
}

const NO_SUMS: ChargeSums = { caller_id: '', margin: 0, cost: 0 }

/**
 * Compares transfers that took the money of calls with the sums of their receipts. Receipts that name a transfer come
 * soon after each other, so only the sums of a few transfers are held at a time.
 *
 * @param until transfers of before are compared with their receipts in archives; null for none
 */
export function createChargeCheck(db: Kysely<Schema>, engine: Engine, until: string | null) {
  const open = new Map<string, ChargeSums>()
  return {
    /** Adds receipts to their transfers, and drops the transfers that they complete. */
    async add(receipts: readonly CheckedReceipt[]): Promise<void> {
      if (open.size > MOST_OPEN) return
      const keys = new Set<string>()
      for (const { transfer, caller_id, margin_micros, upstream_cost_micros } of receipts) {
        // Free calls change no sum, and move nothing where they are alone.
        if (transfer === null || (margin_micros === 0 && upstream_cost_micros === 0)) continue
        const sums = open.get(transfer) ?? { ...NO_SUMS, caller_id }
        sums.margin += margin_micros
        sums.cost += upstream_cost_micros
        open.set(transfer, sums)
        keys.add(transfer)
      }
      const entries = await entriesOf(db, [...keys])
      for (const key of keys) if (sameMoney(open.get(key) ?? NO_SUMS, entries.get(key))) open.delete(key)
    },

    /** Faults of all transfers, at most `limit` of those that receipts name and of the others. */
    async faults(limit: number): Promise<string[]> {
      const left = [...open.keys()].sort()
      // Earlier versions made transfers and receipts of different months: some of these are not among those that were added.
      const wrong = (until === null ? left : await unequalCharges(db, left)).slice(0, limit)
      const entries = await entriesOf(db, wrong)
      const unnamed = await unnamedTransfers(db, engine, { limit, until })
      const differing = [...new Set([...wrong.filter((key) => entries.has(key)), ...unnamed])]
      return [
        ...wrong
          .filter((key) => !entries.has(key))
          .map((key) => `Transfer ${key}: receipts refer to it, but the ledger does not have it.`),
        ...differing.map((key) => `Transfer ${key}: its amounts differ from the sum of its receipts.`),
      ].slice(0, limit)
    },
  }
}

async function entriesOf(db: Kysely<Schema>, keys: readonly string[]): Promise<Map<string, Entry[]>> {
  const found = new Map<string, Entry[]>()
  for (let start = 0; start < keys.length; start += LOOKED_FOR) {
    const some = keys.slice(start, start + LOOKED_FOR)
    const rows = await db.selectFrom('ledger_transfers').select(['key', 'entries']).where('key', 'in', some).execute()
    for (const { key, entries } of rows) if (isOfCalls(key)) found.set(key, JSON.parse(entries))
  }
  return found
}

const isOfCalls = (key: string): boolean => KINDS.some((kind) => key.startsWith(`${kind}:`))

/** Tells whether a transfer took the sums of its receipts. @param moved undefined when nothing was moved */
export function sameMoney({ caller_id, margin, cost }: ChargeSums, moved: readonly Entry[] = []): boolean {
  const due = new Map([
    [accountOf('revenue', caller_id).id, margin],
    [accountOf('upstream_cost', caller_id).id, cost],
  ])
  const taken = takenIn(moved)
  return (
    taken.length === [...due.values()].filter(Boolean).length &&
    taken.every(({ account, micros }) => due.get(account) === micros)
  )
}

const takenIn = (entries: readonly Entry[]): Entry[] =>
  entries.filter(({ account }) => /^(revenue|upstream_cost):/.test(account))

/**
 * Finds those of some transfers that the store has with other amounts than their receipts, or without any. Reads all receipts.
 */
export async function unequalCharges(db: Kysely<Schema>, keys: readonly string[]): Promise<string[]> {
  const sums = new Map<string, ChargeSums>()
  for (let start = 0; start < keys.length; start += LOOKED_FOR) {
    const { rows } = await sql<ChargeSums & { key: string }>`
      select transfer as key, min(caller_id) as caller_id, cast(sum(margin_micros) as bigint) as margin,
        cast(sum(upstream_cost_micros) as bigint) as cost
      from metered_calls where transfer in (${sql.join(keys.slice(start, start + LOOKED_FOR))}) group by transfer`.execute(
      db,
    )
    for (const { key, caller_id, margin, cost } of rows)
      sums.set(key, { caller_id, margin: Number(margin), cost: Number(cost) })
  }
  const entries = await entriesOf(db, keys)
  return keys.filter((key) => !sameMoney(sums.get(key) ?? NO_SUMS, entries.get(key)))
}

/** Owner of the first account of a transfer: the caller, whose money it takes. */
const OWNER: Readonly<Record<Engine, RawBuilder<string>>> = {
  sqlite: sql`substr(t.chain, instr(t.chain, ':') + 1)`,
  postgres: sql`substr(t.chain, strpos(t.chain, ':') + 1)`,
}

/** Finds transfers that took money, and that no receipt names. */
async function unnamedTransfers(
  db: Kysely<Schema>,
  engine: Engine,
  { limit, until }: { limit: number; until: string | null },
): Promise<string[]> {
  const isHere = until === null ? sql`` : sql`and t.at >= ${until}`
  const named = (range: RawBuilder<unknown>) => sql`exists (select 1 from metered_calls as c
    where c.caller_id = ${OWNER[engine]} and ${range} and c.transfer = t.key)`
  const unnamed: string[] = []
  for (const kind of KINDS) {
    // The first receipts at the time of a transfer and later are its own, so that few are read for each.
    const { rows } = await sql<{ key: string; entries: string }>`
      select t.key, cast(t.entries as text) as entries from ledger_transfers as t
      where t.key > ${`${kind}:`} and t.key < ${`${kind};`} ${isHere}
        and not ${named(sql`c.at >= t.at`)} and not ${named(sql`c.at < t.at`)}
      order by t.key limit ${limit}`.execute(db)
    for (const { key, entries } of rows) if (takenIn(JSON.parse(entries)).length > 0) unnamed.push(key)
  }
  return unnamed
}
