import { type ListQuery, PAGE_BYTES, type Page, type Paged } from '../../src/store/page.ts'
import { beginReplyInTurn } from './large-reply-queue.ts'
import { streamed } from './stream-body.ts'

/** Maximum size of items that are read and held at once, in bytes of JSON. */
const PART_BYTES = 256 * 1024

type Part<Item> = Pick<Page<Item>, 'items' | 'next_cursor'>

/**
 * Replies with a page of a list. A page above {@link PART_BYTES} is read and sent in parts, as fast as its client takes
 * them. However many clients are slow, each holds only one part.
 *
 * @param read reads the page of a query, or the part of it that fits into `maxBytes`
 * @param readMore reads a later part, when that can be cheaper; only its items and cursor are used
 */
export async function listReply<Query extends ListQuery, P extends Page<unknown>>(
  query: Query,
  read: (part: Paged<Query>) => Promise<P>,
  readMore: (part: Paged<Query>) => Promise<Part<unknown>> = read,
): Promise<P | Response> {
  return beginReplyInTurn(async () => {
    const first = await read({ ...query, maxBytes: PART_BYTES })
    const isWhole = first.next_cursor === null || first.items.length === query.limit
    if (isWhole) return first
    const { items, ...rest } = first
    // As bytes, so that the items are not held until the client takes them.
    const opening = { bytes: bufferOf('{"items":[', items), items: items.length, rest }
    return new Response(streamed(pieces(query, opening, readMore)), { headers: JSON_TYPE })
  })
}

/** First chunk of a list and its fields besides the items. */
interface Opening {
  bytes: Buffer
  items: number
  rest: Omit<Page<unknown>, 'items'>
}

const JSON_TYPE = { 'content-type': 'application/json' }

async function* pieces<Query extends ListQuery>(
  { offset: _, ...query }: Query,
  opening: Opening,
  read: (part: Paged<Query>) => Promise<Part<unknown>>,
): AsyncGenerator<Buffer, void> {
  const { next_cursor, ...rest } = opening.rest
  let left = query.limit - opening.items
  let cursor = next_cursor
  let bytes = opening.bytes.length
  yield opening.bytes
  while (left > 0 && cursor !== null) {
    const part = await read({ ...query, limit: left, cursor, maxBytes: PART_BYTES } as Paged<Query>)
    const piece = bufferOf(',', part.items)
    bytes += piece.length
    // The page ends here. Its cursor leads to this part.
    if (bytes > PAGE_BYTES) break
    left -= part.items.length
    cursor = part.next_cursor
    if (part.items.length > 0) yield piece
  }
  yield Buffer.from(`],${JSON.stringify({ ...rest, next_cursor: cursor }).slice(1)}`)
}

/**
 * Encodes items as JSON in bytes. Each item is written separately, because one text of all items would be another copy.
 */
function bufferOf(before: string, items: readonly unknown[]): Buffer {
  const texts = items.map((item) => JSON.stringify(item))
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, before.length))
  let at = bytes.write(before)
  for (const [i, text] of texts.entries()) {
    if (i > 0) at += bytes.write(',', at)
    at += bytes.write(text, at)
  }
  return bytes.subarray(0, at)
}
