import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { archivedReceipts, type ReceiptRange } from './archived-receipts.ts'

/** SQL of a grouping of the table `calls`: joins, and the key. */
interface Grouping {
  joins: RawBuilder<unknown>
  key: RawBuilder<unknown>
}

/**
 * Reads archived receipts with the groups of their calls, as a join of receipts and calls gives them: a receipt is given once for
 * each group of its call.
 *
 * @param callers whose receipts; null for all
 */
export async function* groupedReceipts(
  db: Kysely<Schema>,
  { callers, ...range }: ReceiptRange & { callers: readonly string[] | null },
  grouping: Grouping,
): AsyncGenerator<{ key: string; receipt: MeteredCallRow }> {
  const [one, ...others] = callers ?? []
  const only = callers !== null && others.length === 0 ? { caller_id: one ?? '' } : {}
  const wanted = callers === null ? null : new Set(callers)
  for await (const rows of archivedReceipts(db, { ...range, ...only })) {
    const receipts = rows.filter(({ caller_id }) => wanted === null || wanted.has(caller_id))
    const keys = await keysOf(db, grouping, receipts)
    for (const receipt of receipts)
      for (const key of keys.get(receipt.upstream_call_id ?? '') ?? []) yield { key, receipt }
  }
}

/** Groups by call; the empty id stands for no call. */
async function keysOf(
  db: Kysely<Schema>,
  { joins, key }: Grouping,
  receipts: readonly MeteredCallRow[],
): Promise<Map<string, string[]>> {
  const ids = [...new Set(receipts.map(({ upstream_call_id }) => upstream_call_id ?? ''))]
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; key: string }>`
    with asked (id) as (values ${sql.join(ids.map((id) => sql`(${id})`))})
    select asked.id, ${key} as key from asked left join calls on calls.call_id = asked.id ${joins}`.execute(db)
  const keys = new Map<string, string[]>()
  for (const { id, key: of } of rows) keys.set(id, [...(keys.get(id) ?? []), of])
  return keys
}
