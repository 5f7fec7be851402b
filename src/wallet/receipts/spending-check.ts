import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Micros } from '../../text/money.ts'
import { TOTAL } from '../../text/period.ts'
import type { ArchivedCalls, Days } from './archived-calls.ts'
import { costOf } from './receipts.ts'
import type { CheckedReceipt } from './receipts-by-caller.ts'

/** Owners per page. */
const PAGE = 1_000

/**
 * Compares the spending of each day with the calls and escrows that count on it, by key, wallet and group. Receipts are
 * added caller by caller, so only the days of one caller and those of groups are held at a time.
 *
 * @param archived days of archived calls, which are no more among the receipts
 */
export function createSpendingCheck(db: Kysely<Schema>, archived: ArchivedCalls, limit: number) {
  const groups = new Map([...archived.ofGroups].map(([owner, days]) => [owner, new Map(days)]))
  /** Callers whose archived days were not compared yet. */
  const left = new Map([...archived.ofCallers].map(([owner, days]) => [owner, new Map(days)]))
  const faults: string[] = []
  let caller: string | null = null
  let days: Days = new Map()

  async function endCaller(): Promise<void> {
    if (caller !== null) faults.push(...(await daysThatDiffer(db, caller, days, { areAllKept: true })))
  }

  function begin(callerId: string): void {
    caller = callerId
    days = left.get(callerId) ?? new Map()
    left.delete(callerId)
  }

  return {
    /** Adds receipts in the order of their callers. */
    async add(receipts: readonly CheckedReceipt[]): Promise<void> {
      for (const receipt of receipts) {
        if (faults.length >= limit) return
        const { caller_id, group_id, counted_on } = receipt
        if (caller_id !== caller) {
          await endCaller()
          begin(caller_id)
        }
        if (receipt.charged !== 1) continue
        addTo(days, counted_on, costOf(receipt))
        if (group_id === null) continue
        const ofGroup = groups.get(group_id) ?? new Map()
        groups.set(group_id, ofGroup)
        addTo(ofGroup, counted_on, costOf(receipt))
      }
    },

    /** Faults, at most `limit`. */
    async faults(): Promise<string[]> {
      await endCaller()
      for (let after = ''; faults.length < limit; ) {
        const owners = await ownersWithoutReceipts(db, after, archived.until)
        for (const owner of owners) {
          const due = left.get(owner) ?? groups.get(owner) ?? new Map()
          faults.push(...(await daysThatDiffer(db, owner, due, { areAllKept: left.delete(owner) })))
        }
        const last = owners.at(-1)
        if (last === undefined || owners.length < PAGE) break
        after = last
      }
      for (const [owner, due] of left)
        if (faults.length < limit) faults.push(...(await daysThatDiffer(db, owner, due, { areAllKept: true })))
      if (faults.length < limit) faults.push(...(await missingDaysOfEscrows(db, limit)))
      return [...new Set(faults)].slice(0, limit)
    },
  }
}

/** Adds an amount to those of a day. */
export function addTo(days: Days, day: string, micros: Micros): void {
  days.set(day, (days.get(day) ?? 0) + micros)
}

/**
 * Days on which an owner's spending differs from its calls and escrows.
 *
 * @param due of its calls; what escrows count is added
 * @param areAllKept whether every day with calls must have spending
 */
async function daysThatDiffer(
  db: Kysely<Schema>,
  owner: string,
  due: Days,
  { areAllKept }: { areAllKept: boolean },
): Promise<string[]> {
  const { rows: escrows } = await sql<{ day: string; micros: Micros }>`
    select counted_on as day, cast(sum(amount_micros) as bigint) as micros from escrows
      where payer = ${owner} and status <> 'refunded' group by counted_on
    union all
    select counted_on, cast(sum(amount_micros) as bigint) from escrows
      where counted_group = ${owner} and status <> 'refunded' group by counted_on`.execute(db)
  for (const { day, micros } of escrows) addTo(due, day, Number(micros))
  const spending = await db
    .selectFrom('spending')
    .select(['day', 'charged_micros'])
    .where('owner', '=', owner)
    .where('day', '<>', TOTAL)
    .orderBy('day')
    .execute()
  const faults: string[] = []
  for (const { day, charged_micros } of spending) {
    const micros = due.get(day) ?? 0
    due.delete(day)
    if (Number(charged_micros) !== micros)
      faults.push(
        `Spending of ${owner} on ${day}: it is ${charged_micros}, its calls and escrows sum to ${micros} micro-dollars.`,
      )
  }
  for (const [day, micros] of due) if (areAllKept && micros > 0) faults.push(missing(owner, day))
  return faults
}

const missing = (owner: string, day: string): string =>
  `Spending of ${owner} on ${day}: it is missing, but calls or escrows count on that day.`

/** Groups, and callers that have only spent on escrows. */
async function ownersWithoutReceipts(db: Kysely<Schema>, after: string, until: string | null): Promise<string[]> {
  const isHere = until === null ? sql`` : sql`and c.at >= ${until}`
  const { rows } = await sql<{ owner: string }>`
    select distinct d.owner from spending as d where d.owner > ${after} and d.day <> ${TOTAL}
      and not exists (select 1 from metered_calls as c where c.caller_id = d.owner ${isHere})
    order by d.owner limit ${PAGE}`.execute(db)
  return rows.map(({ owner }) => owner)
}

/** Days with escrows and no row of spending. */
async function missingDaysOfEscrows(db: Kysely<Schema>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ owner: string; day: string }>`
    select distinct e.payer as owner, e.counted_on as day from escrows as e
    where e.status <> 'refunded' and not exists
      (select 1 from spending as d where d.owner = e.payer and d.day = e.counted_on)
    limit ${limit}`.execute(db)
  return rows.map(({ owner, day }) => missing(owner, day))
}
