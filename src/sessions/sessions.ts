import type { Kysely, Transaction } from 'kysely'
import * as z from 'zod'
import type { Base } from '../base.ts'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { SessionMessageRow, SessionRow } from '../store/tables/sessions-tables.ts'
import { newId } from '../text/ids.ts'
import { distinctWords } from '../text/words.ts'
import { addExchange, addSession, type Exchange, emptySession, sessionUnknown } from './chat-exchange.ts'
import { chatRetention } from './chat-retention.ts'
import { messagePage, newestMessages } from './messages.ts'
import {
  type NewSession,
  type Session,
  type SessionDirectory,
  type SessionFound,
  type SessionList,
  type SessionPatch,
  type SessionSearch,
  toSession,
  type Viewer,
} from './session.ts'
import { findWords } from './session-search.ts'
import { countSession, readSessionTotal } from './session-totals.ts'

export type { Exchange } from './chat-exchange.ts'
export * from './session.ts'

/** The sessions of this store. */
export interface Sessions extends SessionDirectory {
  /** Lists sessions. Has no warnings, as the store has them all. */
  list(query: Paged<SessionList>, viewer: Viewer): Promise<Page<Session>>
  /**
   * Creates a session without messages.
   *
   * @param keep called with the session in the same transaction
   * @throws GazewayError `session_exists`
   */
  create(input: NewSession, of: { userId: string; source: string }, keep?: Keep<Session>): Promise<Session>
  /** Finds the owner and model of a session to continue; null for an unknown id. */
  find(id: string): Promise<{ id: string; user_id: string; model: string | null } | null>
  /** Reads the messages of a session lazily, newest first. */
  newest(id: string): AsyncGenerator<SessionMessageRow, void>
  /**
   * Adds a message and its answer in one transaction, durable when the promise resolves.
   *
   * @param also further statements of the transaction
   * @throws GazewayError `not_found` when the session was deleted meanwhile
   */
  addExchange(exchange: Exchange, also?: (trx: Transaction<Schema>) => Promise<void>): Promise<void>
}

/** Messages of a history per query. */
const HISTORY_BATCH = 20

/** The sessions, and their sweeps. */
export type LiveSessions = Sessions & { sweeps: readonly Sweep[] }

/** Opens the room. Its sweeps follow `chats.retention_days`. @param chatModel model of sessions that name none */
export function liveSessions({ store, now, config }: Base, chatModel: () => string): LiveSessions {
  const days = () => config.current().config.chats.retention_days
  return { ...createSessions({ store, now, chatModel }), sweeps: [chatRetention(store, now, days)] }
}

/** Creates the sessions of a store. @param chatModel model of sessions that name none */
export function createSessions(deps: { store: Store; now: () => Date; chatModel: () => string }): Sessions {
  const { store, now, chatModel } = deps
  const { db } = store
  const time = () => now().toISOString()
  const shown = (row: SessionRow) => toSession(row, chatModel())

  const rowOf = async (id: string, viewer: Viewer) =>
    requireSeen(await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst(), id, viewer)

  return {
    async create(input, { userId, source }, keep) {
      const id = input.id ?? input.session_id ?? newId('ses')
      const { title = null, model = null, parent_session_id = null } = input
      const row = emptySession({ id, user_id: userId, source, title, model, parent_session_id }, time())
      const added = await store.write(async (trx) => {
        if (!(await addSession(trx, row))) return false
        await indexTitle(trx, row)
        await keep?.(trx, shown(row))
        return true
      })
      if (!added) throw sessionExists(id)
      return shown(row)
    },

    async list(query, viewer) {
      const user_id = viewer.all ? undefined : viewer.userId
      const rows = recentRows(pageReader(store, query), query, user_id)
      return readPage(query, {
        rows: (limit) => rows.limit(limit).execute(),
        total: () => readSessionTotal(db, { user_id, source: query.source }),
        item: shown,
        cursor: (row) => [row.last_active_at, row.id],
      })
    },

    get: async (id, viewer) => shown(await rowOf(id, viewer)),

    async messages(id, query, viewer) {
      const { message_count: total } = await rowOf(id, viewer)
      return messagePage(store, { id, total }, query)
    },

    search: (query, viewer) => searchSessions(store, query, viewer, shown),

    update: (id, patch, viewer) =>
      store.write(async (trx) => {
        const row = await lockSeen(trx, id, viewer)
        const changed = { ...row, ...changes(patch, time()) }
        const { title, ended_at, end_reason } = changed
        await trx.updateTable('sessions').set({ title, ended_at, end_reason }).where('id', '=', id).execute()
        if (patch.title !== undefined) await indexTitle(trx, changed)
        return shown(changed)
      }),

    remove: (id, viewer) =>
      store.write(async (trx) => {
        await removeSession(trx, await lockSeen(trx, id, viewer))
      }),

    find: (id) => findOwner(db, id),
    newest: (id) => newestMessages(db, id, HISTORY_BATCH),
    addExchange: (exchange, also) =>
      store.write(async (trx) => {
        await addExchange(trx, exchange, time())
        await also?.(trx)
      }),
  }
}

async function lockSeen(trx: Transaction<Schema>, id: string, viewer: Viewer): Promise<SessionRow> {
  const row = await trx.selectFrom('sessions').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return requireSeen(row, id, viewer)
}

const sessionExists = (id: string) =>
  new GazewayError('session_exists', `There is a session ${id} already. Choose another id, or omit it.`, {
    param: 'id',
  })

async function searchSessions(
  store: Store,
  { q, limit }: SessionSearch,
  viewer: Viewer,
  shown: (row: SessionRow) => Session,
): Promise<{ results: SessionFound[] }> {
  const hits = await findWords(store, q, { userId: viewer.all ? null : viewer.userId, limit })
  if (hits.length === 0) return { results: [] }
  const ids = hits.map((hit) => hit.sessionId)
  const rows = await store.db.selectFrom('sessions').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const results = hits.flatMap(({ sessionId, message, snippet }) => {
    const row = byId.get(sessionId)
    // It may have been deleted since it was found.
    return row === undefined ? [] : [{ session: shown(row), message, snippet }]
  })
  return { results }
}

async function findOwner(db: Kysely<Schema>, id: string) {
  const row = await db.selectFrom('sessions').select(['id', 'user_id', 'model']).where('id', '=', id).executeTakeFirst()
  return row ?? null
}

async function removeSession(trx: Transaction<Schema>, row: SessionRow): Promise<void> {
  await trx.deleteFrom('sessions').where('id', '=', row.id).execute()
  await trx.deleteFrom('session_messages').where('session_id', '=', row.id).execute()
  await trx.deleteFrom('session_texts').where('session_id', '=', row.id).execute()
  await countSession(trx, row, -1)
}

function requireSeen(row: SessionRow | undefined, id: string, viewer: Viewer): SessionRow {
  if (row === undefined || !(viewer.all || row.user_id === viewer.userId)) throw sessionUnknown(id)
  return row
}

function recentRows(db: Kysely<Schema>, query: SessionList, userId: string | undefined) {
  const { source, cursor, offset } = query
  let rows = db.selectFrom('sessions').selectAll().orderBy('last_active_at', 'desc').orderBy('id', 'desc')
  if (userId !== undefined) rows = rows.where('user_id', '=', userId)
  if (source !== undefined) rows = rows.where('source', '=', source)
  if (cursor !== undefined) {
    const after = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
    rows = rows.where(({ eb, refTuple, tuple }) => eb(refTuple('last_active_at', 'id'), '<', tuple(...after)))
  }
  if (offset !== undefined) rows = rows.offset(offset)
  return rows
}

function changes({ title, end_reason }: SessionPatch, at: string): Partial<SessionRow> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(end_reason === undefined ? {} : { end_reason, ended_at: at }),
  }
}

async function indexTitle(trx: Transaction<Schema>, { id, user_id, title }: SessionRow): Promise<void> {
  await trx.deleteFrom('session_texts').where('session_id', '=', id).where('position', '=', 0).execute()
  if (title === null) return
  await trx
    .insertInto('session_texts')
    .values({ session_id: id, user_id, position: 0, words_text: distinctWords(title).join(' ') })
    .execute()
}
