import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import { parseJson } from '../json.ts'

/** Matches that are counted one by one for a page's `total`; a list that has more of them says so many. */
export const MOST_COUNTED = 1000

/** How every list is asked for: `cursor` goes on from an earlier reply, `offset` skips from the newest; one of the two. */
export const ListQuery = z.object({
  limit: z.int().min(1).max(1000).default(50).describe('How many items to return, newest first.'),
  cursor: z.string().max(2048).optional().describe('`next_cursor` of an earlier reply, to go on from there.'),
  offset: z.int().min(0).optional().describe('How many of the newest items to skip; a cursor is faster.'),
})
export type ListQuery = z.infer<typeof ListQuery>

/**
 * One page of a list. `total` counts the matches on all pages (where a filter leaves no running total to read, up to
 * 1,000); `next_cursor` is null on the last page.
 */
export interface Page<T> {
  items: T[]
  total: number
  next_cursor: string | null
}

/** The place after an item as an opaque string: `values` are what the list is ordered by, the last of them unique. */
export function encodeCursor(values: ReadonlyArray<string | number>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * The values that `encodeCursor` was given.
 *
 * @example const [updatedAt, id] = decodeCursor(query.cursor, z.tuple([z.iso.datetime(), z.string()]))
 * @throws GazewayError `invalid_cursor` when it is not a cursor of this kind of list
 */
export function decodeCursor<T>(cursor: string, values: z.ZodType<T>): T {
  const parsed = values.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (parsed.success) return parsed.data
  throw new GazewayError('invalid_cursor', 'The cursor is not one that this list returned; start again without it.', {
    param: 'cursor',
  })
}

/** The page of `rows`, which were read with `limit + 1` so that the extra one tells whether more follow. */
export function toPage<Row, T>(
  rows: readonly Row[],
  options: {
    limit: number
    total: number
    item: (row: Row) => T
    cursor: (row: Row) => ReadonlyArray<string | number>
  },
): Page<T> {
  const shown = rows.slice(0, options.limit)
  const last = shown.at(-1)
  return {
    items: shown.map(options.item),
    total: options.total,
    next_cursor: last !== undefined && rows.length > options.limit ? encodeCursor(options.cursor(last)) : null,
  }
}
