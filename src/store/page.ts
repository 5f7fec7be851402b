import type { Kysely } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { parseJson } from '../text/json.ts'
import { jsonBytes } from '../text/json-bytes.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Maximum number of matches counted for a page's `total`. A longer list reports this number. */
export const MAX_COUNTED = 1000
/** Size limit of a page's items, as JSON in bytes. A page always contains at least one item. */
export const PAGE_BYTES = 4 * 1024 * 1024
/** Maximum number of rows that are skipped on the main connection. More are skipped on the reader's thread. */
const MAX_SKIPPED = 1000
/** Rows whose sizes are read first. */
const FEW_SIZES = 32

/**
 * Query of every list. `cursor` continues after an earlier reply, `offset` skips the newest items; only one of them may
 * be set.
 */
export const ListQuery = z.object({
  limit: z.int().min(1).max(1000).default(50).describe('Maximum items, newest first.'),
  cursor: z.string().max(2048).optional().describe('`next_cursor` of the reply to continue.'),
  offset: z.int().min(0).optional().describe('Newest items to skip.'),
})
export type ListQuery = z.infer<typeof ListQuery>

/** A list query with the size limit of the page, {@link PAGE_BYTES} by default. */
export type Paged<Query extends ListQuery = ListQuery> = Query & { maxBytes?: number | undefined }

/**
 * One page of a list. `total` counts the matches on all pages; with a filter that has no running total, up to 1,000.
 * `next_cursor` is null on the last page.
 */
export interface Page<T> {
  items: T[]
  total: number
  next_cursor: string | null
}

/** Reads the rows of a list and converts them to items. */
export interface PageSource<Row, T> {
  /** Reads the first `limit` rows from the page's start. */
  rows(limit: number): Promise<Row[]>
  /**
   * Sizes of these rows in bytes, read without the rows themselves. For rows that may be large, so that only as many
   * are read as the page can hold.
   */
  sizes?(limit: number): Promise<number[]>
  total(): number | Promise<number>
  item(row: Row): T
  /** Sort values of a row; the last of them is unique. */
  cursor(row: Row): ReadonlyArray<string | number>
}

/**
 * Encodes the position after an item as an opaque string.
 *
 * @param values sort values of the item, the last of them unique
 */
export function encodeCursor(values: ReadonlyArray<string | number>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * Decodes a cursor into the sort values that were passed to `encodeCursor`.
 *
 * @example
 * import * as z from 'zod'
 * const cursor = encodeCursor(['2026-11-21T07:17:52.000Z', 'mem_1'])
 * const [updatedAt, id] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
 * @throws GazewayError `invalid_cursor` when the cursor is malformed or belongs to another kind of list
 */
export function decodeCursor<T>(cursor: string, values: z.ZodType<T>): T {
  const parsed = values.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (parsed.success) return parsed.data
  throw new GazewayError('invalid_cursor', 'The cursor is not one that this list returned. Start again without it.', {
    param: 'cursor',
  })
}

/** Connection for reading a page: the reader's when many rows are skipped. */
export const pageReader = (store: Pick<Store, 'db' | 'reads'>, { offset = 0 }: ListQuery): Kysely<Schema> =>
  offset > MAX_SKIPPED ? store.reads : store.db

/** Reads a page: at most `limit` items and `maxBytes` bytes. Concurrent pages take turns. */
export async function readPage<Row, T>(
  { limit, maxBytes = PAGE_BYTES }: Pick<Paged, 'limit' | 'maxBytes'>,
  source: PageSource<Row, T>,
): Promise<Page<T>> {
  await yieldToEventLoop()
  // One extra row tells whether more follow.
  const rows = await source.rows((await mostFitting(source, limit, maxBytes)) + 1)
  const items: T[] = []
  let bytes = 0
  for (const row of rows.slice(0, limit)) {
    const item = source.item(row)
    bytes += jsonBytes(item)
    if (items.length > 0 && bytes > maxBytes) break
    items.push(item)
  }
  const last = rows[items.length - 1]
  return {
    items,
    total: await source.total(),
    next_cursor: last !== undefined && rows.length > items.length ? encodeCursor(source.cursor(last)) : null,
  }
}

/** Number of rows to read: `limit`, or as many as fit into `maxBytes`. Checks few sizes when rows are large. */
async function mostFitting(
  { sizes }: Pick<PageSource<never, never>, 'sizes'>,
  limit: number,
  maxBytes: number,
): Promise<number> {
  if (sizes === undefined) return limit
  for (const asked of [Math.min(limit, FEW_SIZES), limit]) {
    const fitting = countFitting(await sizes(asked), maxBytes)
    if (fitting < asked || asked === limit) return Math.min(limit, fitting)
  }
  return limit
}

/** Number of leading rows that fit into `most` bytes; at least one. */
function countFitting(sizes: readonly number[], most: number): number {
  let bytes = 0
  const over = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > most
  })
  return over === -1 ? sizes.length : over
}
