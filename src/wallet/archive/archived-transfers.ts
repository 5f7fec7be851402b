import type { Kysely } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { LedgerTransferRow } from '../../store/tables/wallet-tables.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { blocksOf } from './archived-receipts.ts'
import { listArchives } from './archives.ts'
import { type Archive, openArchive, readBlock } from './read-archive.ts'

/** Selection of the transfers of one chain. */
export interface ChainRange {
  chain: string
  /** Positions before this one. */
  before?: number | undefined
  /** Times in UTC, `from` inclusive, `to` exclusive. */
  from?: string | undefined
  to?: string | undefined
}

/**
 * Reads archived transfers of a chain, last position first, and at least `limit` of them where there are as many. Positions and
 * times may be in different orders around the end of a month.
 *
 * @throws GazewayError `store_corrupt` naming a file that is missing or was changed
 */
export async function archivedTransfers(
  db: Kysely<Schema>,
  range: ChainRange,
  limit = Number.POSITIVE_INFINITY,
): Promise<LedgerTransferRow[]> {
  const parts: Array<{ archive: Archive; last: number }> = []
  for (const row of await listArchives(db)) {
    if ((range.from ?? '') >= row.ends_at || (range.to !== undefined && range.to <= row.starts_at)) continue
    const archive = await openArchive(row)
    const own = archive.facts.accounts.find(({ account, transfers }) => account === range.chain && transfers > 0)
    if (own && own.first < (range.before ?? Number.POSITIVE_INFINITY)) parts.push({ archive, last: own.last })
  }
  const found: LedgerTransferRow[] = []
  for (const { archive, last } of parts.sort((a, b) => b.last - a.last)) {
    // All that is left ends before what was found.
    if (found.length >= limit && last < (found[limit - 1]?.position ?? 0)) break
    found.push(...(await transfersIn(archive, range)))
    found.sort((a, b) => b.position - a.position)
  }
  return found
}

async function transfersIn(archive: Archive, { chain, before, from, to }: ChainRange): Promise<LedgerTransferRow[]> {
  const found: LedgerTransferRow[] = []
  for (const block of blocksOf(archive.facts.blocks, 'transfers')) {
    if (block.last[0] < chain || block.first[0] > chain) continue
    await yieldToEventLoop()
    for (const row of await readBlock(archive, block))
      if (
        row.chain === chain &&
        (before === undefined || row.position < before) &&
        (from === undefined || row.at >= from) &&
        (to === undefined || row.at < to)
      )
        found.push(row)
  }
  return found
}
