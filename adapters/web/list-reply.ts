import { type ListQuery, PAGE_BYTES, type Page, type Paged } from '../../src/store/page.ts'
import { streamed } from '../web/streamed.ts'

/** The bytes of items that are read and held at once, as JSON. */
const PART_BYTES = 256 * 1024

type Part<Item> = Pick<Page<Item>, 'items' | 'next_cursor'>

/**
 * A list's page. One that is larger than a quarter of a MiB is read in parts as its client takes them, and sent as they
 * come: any number of clients that take their time hold one part each.
 *
 * @param read the page of a query, or what fits into `mostBytes` of it
 * @param readMore the same of what follows, where that is less work: only its items and cursor are looked at
 */
export async function listReply<Query extends ListQuery, P extends Page<unknown>>(
  query: Query,
  read: (part: Paged<Query>) => Promise<P>,
  readMore: (part: Paged<Query>) => Promise<Part<unknown>> = read,
): Promise<P | Response> {
  const first = await read({ ...query, mostBytes: PART_BYTES })
  const isWhole = first.next_cursor === null || first.items.length === query.limit
  return isWhole ? first : new Response(streamed(pieces(query, first, readMore)), { headers: JSON_TYPE })
}

const JSON_TYPE = { 'content-type': 'application/json' }

async function* pieces<Query extends ListQuery>(
  { offset: _, ...query }: Query,
  first: Page<unknown>,
  read: (part: Paged<Query>) => Promise<Part<unknown>>,
): AsyncGenerator<Buffer, void> {
  const { items, next_cursor, ...rest } = first
  let left = query.limit - items.length
  let cursor = next_cursor
  // Taken out of the page, for nothing but the part that is being sent is to be held.
  const opening = bufferOf('{"items":[', items.splice(0))
  let bytes = opening.length
  yield opening
  while (left > 0 && cursor !== null) {
    const part = await read({ ...query, limit: left, cursor, mostBytes: PART_BYTES } as Paged<Query>)
    const piece = bufferOf(',', part.items)
    bytes += piece.length
    // The cursor before this part leads to it.
    if (bytes > PAGE_BYTES) break
    left -= part.items.length
    cursor = part.next_cursor
    if (part.items.length > 0) yield piece
  }
  yield Buffer.from(`],${JSON.stringify({ ...rest, next_cursor: cursor }).slice(1)}`)
}

const bufferOf = (before: string, items: readonly unknown[]): Buffer =>
  Buffer.from(before + items.map((item) => JSON.stringify(item)).join(','))
