import { type RawBuilder, sql, type Transaction } from 'kysely'
import * as z from 'zod'
import {
  GROUPINGS,
  groupName,
  isCallGroup,
  MOST_GROUPS,
  OTHER_GROUPS,
  SessionGroupBy,
} from '../../calls/call-groups.ts'
import { amongst, type GroupKeys, keysOfGroup } from '../../calls/call-selection.ts'
import { GroupId } from '../../identity/group.ts'
import { CallerId } from '../../identity/key.ts'
import { toUtc, utcDate } from '../../store/dates.ts'
import type { Engine } from '../../store/engine.ts'
import { ListQuery, type Page, type Paged, pageReader } from '../../store/page.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { toUsd } from '../../text/money.ts'
import { groupedReceipts } from '../archive/archived-groups.ts'
import { archivedReceipts } from '../archive/archived-receipts.ts'
import { archivedUntil } from '../archive/archives.ts'
import { dayOf } from '../budget/spending.ts'
import type { ReceiptRecord } from './receipt.ts'
import { receiptPage } from './receipt-page.ts'

const DAY_MS = 86_400_000
/** Callers listed in a report, the highest spending first. */
const MAX_CALLERS = 1_000

/** Filters and grouping of receipts. `from` is inclusive, `to` exclusive. */
export const UsageQuery = ListQuery.extend({
  caller_id: CallerId.optional().describe('Only the calls of this key or wallet.'),
  group: GroupId.optional().describe('Only the calls of the keys that are in this group now.'),
  model: z.string().min(1).max(256).optional().describe("Only the calls of this model: the provider's id."),
  from: z.iso.datetime({ offset: true }).optional().describe('Only calls at this time or later.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only calls before this time.'),
  group_by: z.enum(['day', 'model', 'caller', ...SessionGroupBy.options]).optional(),
})
export type UsageQuery = z.infer<typeof UsageQuery>

/** Number, tokens and cost of metered calls. */
export const UsageSums = z.object({
  calls: z.int(),
  total_tokens: z.int(),
  upstream_cost_usd: z.number(),
  margin_usd: z.number(),
  total_usd: z.number(),
})
export type UsageSums = z.infer<typeof UsageSums>

/** A page of receipts, and the sums over the whole selection. */
export interface UsageReport extends Page<ReceiptRecord> {
  totals: UsageSums
  /** At most 1,000, the highest spending first. */
  by_caller: Array<UsageSums & { caller_id: string }>
  /** By `group_by`; empty without it. `caller_id` is that of a session. */
  groups: Array<UsageSums & { key: string; caller_id?: string }>
}

/** A page of receipts. */
export type ReceiptPage = Pick<UsageReport, 'items' | 'next_cursor'>

type Selection = Pick<UsageQuery, 'caller_id' | 'model' | 'from' | 'to'> & { ofGroup: GroupKeys | undefined }

interface SummedRow {
  key: string
  calls: number
  total_tokens: number
  upstream_cost_micros: number
  margin_micros: number
}

/**
 * Reports billing history from one snapshot. Whole days come from stored sums; only the days that `from` and `to` cut
 * are summed from receipts.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function usageReport(store: Store, query: Paged<UsageQuery>): Promise<UsageReport> {
  const selection = await selectionOf(store, query)
  const { group_by } = query
  const { receipts, byCaller, groups } = await store.snapshot(async (db) => ({
    receipts: await receiptPage(db, selection, query),
    byCaller: await summed(db, store.engine, selection, 'caller_id'),
    groups: await groupsOf(db, store.engine, selection, group_by),
  }))
  const totals = add(byCaller)
  return {
    ...receipts,
    total: totals.calls,
    totals,
    by_caller: byCaller
      .map((row) => ({ caller_id: row.key, ...add([row]) }))
      .sort((a, b) => b.total_usd - a.total_usd || (a.caller_id < b.caller_id ? -1 : 1))
      .slice(0, MAX_CALLERS),
    groups: isCallGroup(group_by)
      ? dearest(groups).map(([key, rows]) => ({ ...groupName(group_by, key), ...add(rows) }))
      : groups.map((row) => ({ key: row.key, ...add([row]) })).sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}

/** Reads receipts without sums, as an export of many pages needs no sums. @throws GazewayError `invalid_cursor` */
export async function usageReceipts(store: Store, query: Paged<UsageQuery>): Promise<ReceiptPage> {
  // From one state of the store, so that no month is archived between what is read of it and of archives.
  const selection = await selectionOf(store, query)
  if ((await archivedUntil(store.db)) !== null) return store.snapshot((db) => receiptPage(db, selection, query))
  return receiptPage(pageReader(store, query), selection, query)
}

function groupsOf(
  db: Transaction<Schema>,
  engine: Engine,
  selection: Selection,
  groupBy: UsageQuery['group_by'],
): Promise<SummedRow[]> | SummedRow[] {
  if (groupBy === undefined) return []
  if (!isCallGroup(groupBy)) return summed(db, engine, selection, COLUMNS[groupBy])
  return summedBySession(db, selection, groupBy)
}

/** Sums receipts by what the sessions of their calls worked on, for calls that the audit trail still has. */
async function summedBySession(
  db: Transaction<Schema>,
  { caller_id, ofGroup, model, from, to }: Selection,
  groupBy: SessionGroupBy,
): Promise<SummedRow[]> {
  const { joins, key } = GROUPINGS[groupBy]
  const until = await archivedUntil(db)
  const { rows } = await sql<SummedRow>`
    select key, count(*) as calls, sum(total_tokens) as total_tokens,
      sum(upstream_cost_micros) as upstream_cost_micros, sum(margin_micros) as margin_micros
    from (
      select ${key} as key, receipts.total_tokens, receipts.upstream_cost_micros, receipts.margin_micros
      from metered_calls as receipts left join calls on calls.call_id = receipts.upstream_call_id ${joins}
      where 1 = 1 ${caller_id === undefined ? sql`` : sql`and receipts.caller_id = ${caller_id}`}
        ${ofGroup === undefined ? sql`` : sql`and ${amongst('receipts.caller_id', ofGroup)}`}
        ${model === undefined ? sql`` : sql`and receipts.model = ${model}`}
        ${from ? sql`and receipts.at >= ${from}` : sql``} ${to ? sql`and receipts.at < ${to}` : sql``}
        ${until === null ? sql`` : sql`and receipts.at >= ${until}`}
    ) as counted group by key`.execute(db)
  if (until === null) return rows
  const sums = new Map(rows.map((row) => [row.key, row]))
  const callers = caller_id === undefined ? (ofGroup?.ids ?? null) : [caller_id]
  const range = { callers, model, from, to }
  for await (const { key: name, receipt } of groupedReceipts(db, range, GROUPINGS[groupBy]))
    addReceipt(sums, name, receipt)
  return [...sums.values()]
}

/** Counts one more receipt under a key. */
function addReceipt(sums: Map<string, SummedRow>, key: string, receipt: MeteredCallRow): void {
  const sum = sums.get(key)
  sums.set(key, {
    key,
    calls: Number(sum?.calls ?? 0) + 1,
    total_tokens: Number(sum?.total_tokens ?? 0) + receipt.total_tokens,
    upstream_cost_micros: Number(sum?.upstream_cost_micros ?? 0) + receipt.upstream_cost_micros,
    margin_micros: Number(sum?.margin_micros ?? 0) + receipt.margin_micros,
  })
}

/** The dearest groups by name, and one of all others. */
function dearest(groups: readonly SummedRow[]): [string, SummedRow[]][] {
  const costOf = (row: SummedRow) => Number(row.upstream_cost_micros) + Number(row.margin_micros)
  const ordered = groups.toSorted((a, b) => costOf(b) - costOf(a) || (a.key < b.key ? -1 : 1))
  const others = ordered.slice(MOST_GROUPS)
  const listed = ordered.slice(0, MOST_GROUPS).map((row): [string, SummedRow[]] => [row.key, [row]])
  return others.length === 0 ? listed : [...listed, [OTHER_GROUPS, others]]
}

const COLUMNS = { day: 'day', model: 'model', caller: 'caller_id' } as const

async function summed(
  db: Transaction<Schema>,
  engine: Engine,
  selection: Selection,
  by: 'day' | 'model' | 'caller_id',
): Promise<SummedRow[]> {
  const until = await archivedUntil(db)
  const parts = partsOf(selection)
  const { rows } = await sql<SummedRow>`
    select ${sql.ref(by)} as key, sum(calls) as calls, sum(total_tokens) as total_tokens,
      sum(upstream_cost_micros) as upstream_cost_micros, sum(margin_micros) as margin_micros
    from (${counted(engine, selection, parts, until)}) as counted group by 1`.execute(db)
  if (until === null) return rows
  const sums = new Map(rows.map((row) => [row.key, row]))
  for (const [from, to] of parts.cut)
    for await (const receipts of archivedReceipts(db, { ...selection, from, to }))
      for (const receipt of receipts) addReceipt(sums, by === 'day' ? dayOf(receipt.at) : receipt[by], receipt)
  return [...sums.values()]
}

/** Parts of a selection: whole days, null for none, and the times of the days that it cuts. */
interface Parts {
  days: { first: string | undefined; last: string | undefined } | null
  cut: Array<[from: string, to: string]>
}

function partsOf({ from, to }: Selection): Parts {
  const first = from && startOfDay(from, DAY_MS - 1)
  const last = to && startOfDay(to)
  if (from && to && first && last && first > last) return { days: null, cut: [[from, to]] }
  const cut: Parts['cut'] = []
  if (from && first && from < first) cut.push([from, first])
  if (to && last && last < to) cut.push([last, to])
  return { days: { first, last }, cut }
}

/** Selects stored sums of the whole days, and receipts of the cut days. @param until those of before are in archives */
function counted(
  engine: Engine,
  { caller_id, ofGroup, model }: Selection,
  { days, cut }: Parts,
  until: string | null,
): RawBuilder<unknown> {
  const ofKey = caller_id === undefined ? sql`` : sql`and caller_id = ${caller_id}`
  const ofCaller = ofGroup === undefined ? ofKey : sql`${ofKey} and ${amongst('caller_id', ofGroup)}`
  const ofModel = model === undefined ? sql`` : sql`and model = ${model}`
  const isHere = until === null ? sql`` : sql`and at >= ${until}`
  const parts = cut.map(
    ([start, end]) => sql`
    select caller_id, ${utcDate(engine, 'at')} as day, model, 1 as calls, total_tokens, upstream_cost_micros,
      margin_micros
    from metered_calls where at >= ${start} and at < ${end} ${isHere} ${ofCaller} ${ofModel}`,
  )
  if (days) {
    const after = days.first ? sql`day >= ${dayOf(days.first)}` : sql`1 = 1`
    const before = days.last ? sql`day < ${dayOf(days.last)}` : sql`1 = 1`
    parts.unshift(sql`
    select caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros
    from metered_usage where ${after} and ${before} ${ofCaller} ${ofModel}`)
  }
  return sql.join(parts, sql` union all `)
}

/** Start of the UTC day of `time`, or of the time `later` milliseconds after it. */
function startOfDay(time: string, later = 0): string {
  return toUtc(Math.floor((Date.parse(time) + later) / DAY_MS) * DAY_MS)
}

async function selectionOf(
  store: Store,
  { caller_id, group, model, from, to }: Omit<UsageQuery, 'limit'>,
): Promise<Selection> {
  return {
    caller_id,
    ofGroup: await keysOfGroup(store, group),
    model,
    from: from && toUtc(from),
    to: to && toUtc(to),
  }
}

function add(rows: readonly SummedRow[]): UsageSums {
  const total = (field: Exclude<keyof SummedRow, 'key'>) => rows.reduce((sum, row) => sum + Number(row[field]), 0)
  const [cost, margin] = [total('upstream_cost_micros'), total('margin_micros')]
  return {
    calls: total('calls'),
    total_tokens: total('total_tokens'),
    upstream_cost_usd: toUsd(cost),
    margin_usd: toUsd(margin),
    total_usd: toUsd(cost + margin),
  }
}
