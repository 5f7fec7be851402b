import { sql, type Transaction } from 'kysely'
import { GROUPINGS, groupName, MOST_GROUPS, OTHER_GROUPS, type SessionGroupBy } from '../../calls/call-groups.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow, MeteredUsageRow } from '../../store/tables/wallet-tables.ts'
import { groupedReceipts } from '../archive/archived-groups.ts'
import { archivedUntil } from '../archive/archives.ts'
import { SUMS } from '../receipts/usage-sums.ts'
import { ofCallers, type Subject } from './statement-subject.ts'

type Sums = Pick<MeteredUsageRow, 'charged' | (typeof SUMS)[number]>

/** Sums over the calls of a group. Days, models and prices are added up. */
export interface GroupedCharges extends Sums {
  day: null
  model: null
  upstream: null
  price: ''
  /** Null for calls that have none, or whose record is deleted. */
  group: string | null
  /** Key or wallet of a session. */
  caller_id?: string
}

/** Columns of receipts that sums of another name add up. */
const OF_RECEIPT: Partial<Record<(typeof SUMS)[number], keyof MeteredCallRow>> = {
  estimated_calls: 'usage_estimated',
  capped_calls: 'capped',
  stated_calls: 'stated',
}

/** All tags of a call together: in the group of each it would be charged several times. */
const TAGS = {
  joins: sql``,
  key: sql`coalesce((select string_agg(tags.tag, ', ' order by tags.tag) from call_tags as tags
    where tags.call_id = calls.call_id), '')`,
}

/**
 * Sums the receipts of a period by what the sessions of their calls worked on, charged and recorded ones apart. Each
 * receipt is in one group. The dearest groups come first; all others are one.
 */
export async function groupedCharges(
  db: Transaction<Schema>,
  callers: Subject['callers'],
  { from, to, groupBy }: { from: string; to: string; groupBy: SessionGroupBy },
): Promise<GroupedCharges[]> {
  const grouping = groupBy === 'tag' ? TAGS : GROUPINGS[groupBy]
  const { joins, key } = grouping
  const until = await archivedUntil(db)
  const column = (sum: (typeof SUMS)[number]) => sql.ref(`receipts.${OF_RECEIPT[sum] ?? sum}`)
  const sums = SUMS.map((sum) => sql`${sum === 'calls' ? sql`1` : column(sum)} as ${sql.ref(sum)}`)
  const added = SUMS.map((sum) => sql`cast(sum(${sql.ref(sum)}) as bigint) as ${sql.ref(sum)}`)
  const { rows } = await sql<Sums & { key: string }>`
    select key, charged, ${sql.join(added)}
    from (
      select ${key} as key, receipts.charged, ${sql.join(sums)}
      from metered_calls as receipts left join calls on calls.call_id = receipts.upstream_call_id ${joins}
      where receipts.at >= ${from} and receipts.at < ${to} ${ofCallers(callers, 'receipts.caller_id')}
        ${until === null ? sql`` : sql`and receipts.at >= ${until}`}
    ) as counted
    group by key, charged`.execute(db)
  const byGroup = new Map(rows.map((row) => [`${row.charged} ${row.key}`, { ...row, ...figuresOf([row]) }]))
  for await (const { key: group, receipt } of groupedReceipts(db, { callers, from, to }, grouping)) {
    const name = `${receipt.charged} ${group}`
    const known = byGroup.get(name)
    const row = { key: group, charged: receipt.charged, ...ofReceipt(receipt) }
    byGroup.set(name, known === undefined ? row : { ...row, ...figuresOf([known, row]) })
  }
  const numbers = [...byGroup.values()].sort(
    (a, b) => dueOf(b) - dueOf(a) || (a.key < b.key ? -1 : Number(a.key > b.key)) || a.charged - b.charged,
  )
  const groups = numbers.slice(0, MOST_GROUPS).map(({ key: name, charged, ...row }) => {
    const { key: group, caller_id } = groupName(groupBy, name)
    return lineOf({ ...row, charged, group: group || null, ...(caller_id === undefined ? {} : { caller_id }) })
  })
  const rest = numbers.slice(MOST_GROUPS)
  const others = [0, 1]
    .map((charged) => rest.filter((row) => row.charged === charged))
    .filter(({ length }) => length > 0)
  return [
    ...groups,
    ...others.map((rows) => lineOf({ ...figuresOf(rows), charged: rows[0]?.charged ?? 0, group: OTHER_GROUPS })),
  ]
}

const dueOf = (sums: Omit<Sums, 'charged'>): number => sums.upstream_cost_micros + sums.margin_micros

/** Figures that one receipt adds to sums. */
const ofReceipt = (receipt: MeteredCallRow): Omit<Sums, 'charged'> =>
  Object.fromEntries(
    SUMS.map((sum) => [sum, sum === 'calls' ? 1 : receipt[(OF_RECEIPT[sum] ?? sum) as keyof MeteredCallRow]]),
  ) as Omit<Sums, 'charged'>

const lineOf = (line: Sums & Pick<GroupedCharges, 'group' | 'caller_id'>): GroupedCharges => ({
  day: null,
  model: null,
  upstream: null,
  price: '',
  ...line,
})

const figuresOf = (rows: readonly Sums[]): Omit<Sums, 'charged'> =>
  Object.fromEntries(SUMS.map((sum) => [sum, rows.reduce((all, row) => all + Number(row[sum]), 0)])) as Omit<
    Sums,
    'charged'
  >
