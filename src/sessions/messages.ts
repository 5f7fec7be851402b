import type { Kysely } from 'kysely'
import * as z from 'zod'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SessionMessageRow } from '../store/tables/sessions-tables.ts'
import { type MessageList, type SessionMessage, toMessage } from './session.ts'

/** Reads the messages of a session lazily, newest first. @param batch messages per query */
export async function* newestMessages(
  db: Kysely<Schema>,
  sessionId: string,
  batch: number,
): AsyncGenerator<SessionMessageRow, void> {
  for (let before: number | undefined; ; ) {
    let query = db.selectFrom('session_messages').selectAll().where('session_id', '=', sessionId)
    if (before !== undefined) query = query.where('position', '<', before)
    const rows = await query.orderBy('position', 'desc').limit(batch).execute()
    yield* rows
    before = rows.at(-1)?.position
    if (rows.length < batch || before === undefined) return
  }
}

/**
 * Reads the newest messages of a session in the order they were written.
 *
 * @param total number of messages in the session
 * @throws GazewayError `invalid_cursor`
 */
export async function messagePage(
  store: Store,
  { id, total }: { id: string; total: number },
  query: Paged<MessageList>,
): Promise<Page<SessionMessage>> {
  const { cursor, offset } = query
  let newest = pageReader(store, query).selectFrom('session_messages').where('session_id', '=', id)
  if (cursor !== undefined) newest = newest.where('position', '<', decodeCursor(cursor, z.tuple([z.int().min(1)]))[0])
  if (offset !== undefined) newest = newest.offset(offset)
  newest = newest.orderBy('position', 'desc')
  const page = await readPage(query, {
    rows: (limit) => newest.selectAll().limit(limit).execute(),
    async sizes(limit) {
      const rows = await newest
        .select(widthOf(store.engine, ['content']).as('bytes'))
        .limit(limit)
        .execute()
      return rows.map(({ bytes }) => bytes)
    },
    total: () => total,
    item: toMessage,
    cursor: (row) => [row.position],
  })
  return { ...page, items: page.items.reverse() }
}
