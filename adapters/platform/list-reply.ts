import { PAGE_BYTES, type Page, type Paged } from '../../src/store/page.ts'
import { streamed } from '../web/streamed.ts'

/** The bytes of items that are read and held at once, as JSON. */
const PART_BYTES = 512 * 1024

/**
 * A list's page. One that is larger than half a MiB is read in parts as its client takes them, and sent as they come: any
 * number of clients that take their time hold one part each.
 *
 * @param read the page of a query, or what fits into `mostBytes` of it
 * @param readMore the same of what follows, where that is less work: only its items and cursor are looked at
 */
export async function listReply<Query extends Paged, P extends Page<unknown>>(
  query: Query,
  read: (part: Query) => Promise<P>,
  readMore: (part: Query) => Promise<Pick<P, 'items' | 'next_cursor'>> = read,
): Promise<P | Response> {
  const first = await read({ ...query, mostBytes: PART_BYTES })
  const isWhole = first.next_cursor === null || first.items.length === query.limit
  if (isWhole) return first
  const { items, ...rest } = first
  const begun = { ...rest, text: jsonOf(items), count: items.length }
  return new Response(streamed(pieces(query, begun, readMore)), { headers: JSON_TYPE })
}

const JSON_TYPE = { 'content-type': 'application/json' }

async function* pieces<Query extends Paged>(
  { offset: _, ...query }: Query,
  begun: Omit<Page<unknown>, 'items'> & { text: string; count: number },
  read: (part: Query) => Promise<Pick<Page<unknown>, 'items' | 'next_cursor'>>,
): AsyncGenerator<string, void> {
  const { text: firstText, count, next_cursor, ...rest } = begun
  let bytes = Buffer.byteLength(firstText)
  let left = query.limit - count
  let cursor = next_cursor
  yield `{"items":[${firstText}`
  while (left > 0 && cursor !== null) {
    const part = await read({ ...query, limit: left, cursor, mostBytes: PART_BYTES } as Query)
    const text = jsonOf(part.items)
    bytes += Buffer.byteLength(text)
    // The cursor before this part leads to it.
    if (bytes > PAGE_BYTES) break
    left -= part.items.length
    cursor = part.next_cursor
    if (part.items.length > 0) yield `,${text}`
  }
  yield `],${JSON.stringify({ ...rest, next_cursor: cursor }).slice(1)}`
}

const jsonOf = (items: readonly unknown[]): string => items.map((item) => JSON.stringify(item)).join(',')
