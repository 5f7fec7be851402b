import type { ListQuery, Page } from './page.ts'

/** Items per page. */
const PAGE = 1_000

/** Columns of a CSV file by name, each with its value of an item. */
export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => string | number>>

/**
 * Writes a list as CSV (RFC 4180) with a header line. Reads page by page to bound memory.
 *
 * @param read reads a page
 * @param query `offset` skips the newest items, `cursor` continues an earlier page; all that follow are written
 * @throws GazewayError `invalid_cursor`, before the header
 */
export async function* csvOf<Item, Query extends ListQuery>(
  columns: CsvColumns<Item>,
  read: (query: Query) => Promise<Pick<Page<Item>, 'items' | 'next_cursor'>>,
  query: Omit<Query, 'limit'>,
): AsyncGenerator<string, void> {
  const { offset: _, ...selection } = query as Query
  // Read before the header, so that an invalid query fails before any output.
  let page = await read({ ...query, limit: PAGE } as Query)
  yield csvLine(Object.keys(columns))
  for (;;) {
    for (const item of page.items) yield csvLine(Object.values(columns).map((column) => column(item)))
    if (page.next_cursor === null) return
    page = await read({ ...selection, limit: PAGE, cursor: page.next_cursor } as Query)
  }
}

/** Writes a line of CSV. */
export const csvLine = (cells: ReadonlyArray<string | number>): string => `${cells.map(quoted).join(',')}\r\n`

/** Writes a truth value in a cell. */
export const yesNo = (value: boolean | undefined): string => (value ? 'yes' : 'no')

/** Quotes a cell. An apostrophe keeps spreadsheets from running a cell as a formula. */
function quoted(cell: string | number): string {
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
