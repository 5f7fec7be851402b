import type { Kysely } from 'kysely'
import { amongst, type GroupKeys } from '../../calls/call-selection.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { dayOf } from '../budget/spending.ts'
import type { Block } from './archive-seal.ts'
import { listArchives } from './archives.ts'
import { openArchive, readBlock } from './read-archive.ts'

/** Selection of receipts: times in UTC, `from` inclusive, `to` exclusive. All by default. */
export interface ReceiptRange {
  caller_id?: string | undefined
  /** Keys of a group: only the receipts of these. */
  ofGroup?: GroupKeys | undefined
  model?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Only those before this one in time. */
  before?: { at: string; call_id: string } | undefined
}

/**
 * Reads archived receipts, newest first, a block at a time. Days on which a caller has none are not read.
 *
 * @throws GazewayError `store_corrupt` naming a file that is missing or was changed
 */
export async function* archivedReceipts(db: Kysely<Schema>, range: ReceiptRange): AsyncGenerator<MeteredCallRow[]> {
  const { from = '', caller_id, ofGroup, before } = range
  if (ofGroup?.ids.length === 0) return
  const archives = await listArchives(db)
  const until = archives.at(-1)?.ends_at
  if (until === undefined) return
  const end = [range.to ?? until, before?.at ?? until, until].sort()[0] as string
  if (from >= until || from > end) return
  const days = await daysOf(db, { caller_id, ofGroup }, { from, end })
  if (days?.length === 0) return
  const isIn = selects(range)
  for (const row of archives.reverse()) {
    if (row.ends_at <= from || row.starts_at > end || !hasDay(days, row.starts_at, row.ends_at)) continue
    const archive = await openArchive(row)
    for (const block of archive.facts.blocks.toReversed()) {
      const [first, last] = [block.first[0], block.last[0]]
      if (block.of !== 'receipts' || last < from || first > end || !hasDay(days, first, last)) continue
      await yieldToEventLoop()
      const rows = await readBlock(archive, { ...block, of: block.of })
      yield rows.reverse().filter(isIn)
    }
  }
}

/** Finds archived receipts by the ids of their calls. */
export async function archivedReceiptsOf(
  db: Kysely<Schema>,
  ids: readonly string[],
  range: ReceiptRange,
): Promise<MeteredCallRow[]> {
  const wanted = new Set(ids)
  const found: MeteredCallRow[] = []
  for await (const rows of archivedReceipts(db, range)) {
    found.push(...rows.filter(({ call_id }) => wanted.has(call_id)))
    if (found.length === wanted.size) break
  }
  return found
}

function selects(range: ReceiptRange): (receipt: MeteredCallRow) => boolean {
  const { from, to, before } = range
  const ofGroup = range.ofGroup && new Set<string | null>(range.ofGroup.ids)
  return ({ at, call_id, caller_id, model }) =>
    (range.caller_id === undefined || caller_id === range.caller_id) &&
    (ofGroup === undefined || ofGroup.has(caller_id)) &&
    (range.model === undefined || model === range.model) &&
    (from === undefined || at >= from) &&
    (to === undefined || at < to) &&
    (before === undefined || at < before.at || (at === before.at && call_id < before.call_id))
}

/** Days on which a caller, or one of a group, has receipts. Null, for any day, without them. */
async function daysOf(
  db: Kysely<Schema>,
  { caller_id, ofGroup }: Pick<ReceiptRange, 'caller_id' | 'ofGroup'>,
  { from, end }: { from: string; end: string },
): Promise<string[] | null> {
  if (caller_id === undefined && ofGroup === undefined) return null
  let used = db
    .selectFrom('metered_usage')
    .select('day')
    .distinct()
    .where('day', '>=', dayOf(from))
    .where('day', '<=', dayOf(end))
  if (caller_id !== undefined) used = used.where('caller_id', '=', caller_id)
  if (ofGroup !== undefined) used = used.where(amongst('caller_id', ofGroup))
  const rows = await used.execute()
  return rows.map(({ day }) => day)
}

/** Tells whether one of some days is between two times. */
const hasDay = (days: readonly string[] | null, from: string, to: string): boolean =>
  days === null || days.some((day) => day >= dayOf(from) && day <= dayOf(to))

/** Blocks of a kind. */
export const blocksOf = <Of extends Block['of']>(blocks: readonly Block[], of: Of): Array<Block & { of: Of }> =>
  blocks.filter((block): block is Block & { of: Of } => block.of === of)
