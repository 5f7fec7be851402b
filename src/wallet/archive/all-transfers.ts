import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { LedgerTransferRow } from '../../store/tables/wallet-tables.ts'
import { blocksOf } from './archived-receipts.ts'
import { type Archive, readBlock } from './read-archive.ts'

/** Transfers read per page of the store. */
const PAGE = 2_000

type Pages = AsyncGenerator<LedgerTransferRow[]>

/** A source of transfers in the order of chain and position. */
interface Source {
  pages: Pages
  page: LedgerTransferRow[]
  next: number
}

/**
 * Reads all transfers of the ledger, those of archives and of the store, by chain and position. One that is in both is given
 * once; where they differ, a line says so.
 */
export async function* allTransfers(
  store: Store,
  archives: readonly Archive[],
): AsyncGenerator<LedgerTransferRow | string> {
  const sources = await Promise.all([...archives.map(pagesOf), storedPages(store)].map(started))
  const left = sources.filter(({ page }) => page.length > 0)
  let previous: LedgerTransferRow | null = null
  while (left.length > 0) {
    left.sort((a, b) => order(current(a), current(b)))
    const [source, other] = left as [Source, ...Source[]]
    const end = other && current(other)
    do {
      const row = current(source)
      if (previous === null || order(previous, row) !== 0) yield row
      else if (previous.hash !== row.hash || previous.entries !== row.entries)
        yield `Transfer ${row.key}: the store and its archive differ.`
      previous = row
    } while ((await advance(source)) && (end === undefined || order(current(source), end) <= 0))
    if (source.page.length === 0) left.shift()
  }
}

const current = ({ page, next }: Source): LedgerTransferRow => page[next] as LedgerTransferRow

function order(a: LedgerTransferRow, b: LedgerTransferRow): number {
  if (a.chain !== b.chain) return a.chain < b.chain ? -1 : 1
  return a.position - b.position
}

async function started(pages: Pages): Promise<Source> {
  const source: Source = { pages, page: [], next: -1 }
  await advance(source)
  return source
}

/** Goes to the next transfer. False, with an empty page, at the end. */
function advance(source: Source): boolean | Promise<boolean> {
  source.next += 1
  return source.next < source.page.length || nextPage(source)
}

async function nextPage(source: Source): Promise<boolean> {
  const { value } = await source.pages.next()
  source.page = value ?? []
  source.next = 0
  return source.page.length > 0
}

async function* pagesOf(archive: Archive): Pages {
  for (const block of blocksOf(archive.facts.blocks, 'transfers')) yield await readBlock(archive, block)
}

async function* storedPages({ db }: Store): Pages {
  let [chain, position] = ['', 0]
  for (;;) {
    const rows = await db
      .selectFrom('ledger_transfers')
      .selectAll()
      .where(sql<boolean>`(chain, position) > (${chain}, ${position})`)
      .orderBy('chain')
      .orderBy('position')
      .limit(PAGE)
      .execute()
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    ;({ chain, position } = last)
  }
}
