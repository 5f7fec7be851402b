import type { Kysely } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { parseJson } from '../text/json.ts'
import { jsonBytes } from '../text/json-bytes.ts'
import { giveWay } from '../wire/give-way.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Matches that are counted one by one for a page's `total`; a list that has more of them says so many. */
export const MOST_COUNTED = 1000
/** The most bytes of items on one page, as JSON: it ends before the item that would pass them, but always has one. */
export const PAGE_BYTES = 4 * 1024 * 1024
/** Rows that may be skipped in passing; the reader's thread skips more. */
const MOST_SKIPPED = 1000
/** Rows whose sizes are looked at first. */
const FEW_SIZES = 32

/** How every list is asked for: `cursor` goes on from an earlier reply, `offset` skips from the newest; one of the two. */
export const ListQuery = z.object({
  limit: z.int().min(1).max(1000).default(50).describe('How many items, newest first.'),
  cursor: z.string().max(2048).optional().describe('`next_cursor` of the reply to go on from.'),
  offset: z.int().min(0).optional().describe('How many of the newest to skip.'),
})
export type ListQuery = z.infer<typeof ListQuery>

/** A list query, and the most bytes of items on the page; {@link PAGE_BYTES} when absent. */
export type Paged<Query extends ListQuery = ListQuery> = Query & { mostBytes?: number | undefined }

/**
 * One page of a list. `total` counts the matches on all pages (where a filter leaves no running total to read, up to
 * 1,000); `next_cursor` is null on the last page.
 */
export interface Page<T> {
  items: T[]
  total: number
  next_cursor: string | null
}

/** How the rows of a page are read, and what is made of them. */
export interface PageSource<Row, T> {
  /** The first `limit` rows from the page's place on. */
  rows(limit: number): Promise<Row[]>
  /**
   * The bytes of each of these rows, without reading them: for rows that may be large, of which no more are read than the
   * page can hold.
   */
  sizes?(limit: number): Promise<number[]>
  total(): number | Promise<number>
  item(row: Row): T
  /** What the list is ordered by, the last of it unique. */
  cursor(row: Row): ReadonlyArray<string | number>
}

/** The place after an item as an opaque string: `values` are what the list is ordered by, the last of them unique. */
export function encodeCursor(values: ReadonlyArray<string | number>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * Reads the values that `encodeCursor` was given.
 *
 * @example
 * import * as z from 'zod'
 * const cursor = encodeCursor(['2026-11-21T07:17:52.000Z', 'mem_1'])
 * const [updatedAt, id] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
 * @throws GazewayError `invalid_cursor` when it is not a cursor of this kind of list
 */
export function decodeCursor<T>(cursor: string, values: z.ZodType<T>): T {
  const parsed = values.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (parsed.success) return parsed.data
  throw new GazewayError('invalid_cursor', 'The cursor is not one that this list returned; start again without it.', {
    param: 'cursor',
  })
}

/** The connection that a page is read on: the reader's, where many rows are skipped before it. */
export const pageReader = (store: Pick<Store, 'db' | 'reads'>, { offset = 0 }: ListQuery): Kysely<Schema> =>
  offset > MOST_SKIPPED ? store.reads : store.db

/** Reads a page: at most `limit` items, and at most `mostBytes` of them. Pages that are read at once take turns. */
export async function readPage<Row, T>(
  { limit, mostBytes = PAGE_BYTES }: Pick<Paged, 'limit' | 'mostBytes'>,
  source: PageSource<Row, T>,
): Promise<Page<T>> {
  await giveWay()
  // One more than are shown tells whether more follow.
  const rows = await source.rows((await mostFitting(source, limit, mostBytes)) + 1)
  const items: T[] = []
  let bytes = 0
  for (const row of rows.slice(0, limit)) {
    const item = source.item(row)
    bytes += jsonBytes(item)
    if (items.length > 0 && bytes > mostBytes) break
    items.push(item)
  }
  const last = rows[items.length - 1]
  return {
    items,
    total: await source.total(),
    next_cursor: last !== undefined && rows.length > items.length ? encodeCursor(source.cursor(last)) : null,
  }
}

/** How many rows to read: `limit`, or as many as have at most `mostBytes` together. Few are looked at where they are large. */
async function mostFitting(
  { sizes }: Pick<PageSource<never, never>, 'sizes'>,
  limit: number,
  mostBytes: number,
): Promise<number> {
  if (sizes === undefined) return limit
  for (const asked of [Math.min(limit, FEW_SIZES), limit]) {
    const fitting = countFitting(await sizes(asked), mostBytes)
    if (fitting < asked || asked === limit) return Math.min(limit, fitting)
  }
  return limit
}

/** How many of the first rows have at most `most` bytes together; one at least. */
function countFitting(sizes: readonly number[], most: number): number {
  let bytes = 0
  const over = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > most
  })
  return over === -1 ? sizes.length : over
}
