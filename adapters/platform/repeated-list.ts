import { PAGE_BYTES } from '../../src/store/page.ts'
import { streamed } from '../web/stream-body.ts'

/** Number of names for a list of sessions or messages in a reply, for clients of different agent gateways. */
const NAMES = 3
/** Maximum size of the items on such a page, in bytes. The reply is then no larger than others. */
export const REPEATED_BYTES = Math.floor(PAGE_BYTES / NAMES)
/** Length below which a list is sent in one piece. */
const AT_ONCE_BYTES = 128 * 1024

/**
 * Creates a reply with the same items under three names. A long list is serialized once and sent three times.
 *
 * @param rest the other fields
 */
export function repeatedReply<Rest extends object, Item, Name extends string>(
  rest: Rest,
  items: Item[],
  name: Name,
): (Rest & { items: Item[]; data: Item[] } & Record<Name, Item[]>) | Response {
  const text = JSON.stringify(items)
  if (text.length < AT_ONCE_BYTES) return { ...rest, items, data: items, [name]: items } as never
  return new Response(streamed(pieces(JSON.stringify(rest), text, ['items', 'data', name])), {
    headers: { 'content-type': 'application/json' },
  })
}

async function* pieces(rest: string, items: string, names: readonly string[]): AsyncGenerator<string, void> {
  yield rest.slice(0, -1)
  for (const name of names) {
    yield `,"${name}":`
    yield items
  }
  yield '}'
}
