import type { Kysely } from 'kysely'
import { z } from 'zod'
import { decodeCursor, encodeCursor, type Page } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { SessionMessageRow } from '../store/tables/sessions.ts'
import { type MessageList, type SessionMessage, toMessage } from './session.ts'

/** Messages that are read at a time: any of them may have 256 KiB. */
const BATCH = 50
/** A page ends when it has so much text, in characters; the cursor goes on from there. */
const MOST_CHARACTERS = 4 * 1024 * 1024

/**
 * The messages of a session, newest first, read as far as they are asked for.
 *
 * @param options.skip how many of those before `before` to leave out, from the newest on
 */
export async function* newestMessages(
  db: Kysely<Schema>,
  sessionId: string,
  options: { before?: number | undefined; skip?: number | undefined; batch?: number | undefined } = {},
): AsyncGenerator<SessionMessageRow, void> {
  const { batch = BATCH } = options
  let { before, skip = 0 } = options
  for (;;) {
    let query = db.selectFrom('session_messages').selectAll().where('session_id', '=', sessionId)
    if (before !== undefined) query = query.where('position', '<', before)
    if (skip > 0) query = query.offset(skip)
    skip = 0
    const rows = await query.orderBy('position', 'desc').limit(batch).execute()
    yield* rows
    before = rows.at(-1)?.position
    if (rows.length < batch || before === undefined) return
  }
}

/**
 * The newest messages of a session in the order in which they were written. A page that would have more than 4 Mi
 * characters of text ends before; it always has one message.
 *
 * @param total how many messages the session has
 * @throws GazewayError `invalid_cursor`
 */
export async function messagePage(
  db: Kysely<Schema>,
  { id, total }: { id: string; total: number },
  { limit, cursor, offset }: MessageList,
): Promise<Page<SessionMessage>> {
  const before = cursor === undefined ? undefined : decodeCursor(cursor, z.tuple([z.int().min(1)]))[0]
  const rows: SessionMessageRow[] = []
  let characters = 0
  for await (const row of newestMessages(db, id, { before, skip: offset, batch: Math.min(limit, BATCH) })) {
    characters += row.content.length
    if (rows.length > 0 && characters > MOST_CHARACTERS) break
    rows.push(row)
    if (rows.length === limit) break
  }
  const first = rows.at(-1)
  return {
    items: rows.map(toMessage).reverse(),
    total,
    next_cursor: first !== undefined && first.position > 1 ? encodeCursor([first.position]) : null,
  }
}
