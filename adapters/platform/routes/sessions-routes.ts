import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import {
  MessageList,
  NewSession,
  Session,
  type SessionDirectory,
  SessionList,
  SessionMessage,
  SessionPatch,
  SessionSearch,
  type Viewer,
} from '../../../src/sessions/sessions.ts'
import { callerOf } from '../../web/frame-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { REPEATED_BYTES, repeatedReply } from '../repeated-list.ts'

/** Id in a path: Gazeway's own, or one from an agent gateway. */
export const SessionPath = z.strictObject({ id: z.string().min(1).max(256) })

const Shown = Session.extend({ object: z.literal('session'), session: Session })
const warnings = z.array(z.string()).optional().describe('Missing parts, and why they could not be read.')

const Sessions = z.object({
  object: z.literal('list'),
  items: z.array(Session),
  data: z.array(Session).describe('Same as `items`.'),
  sessions: z.array(Session).describe('Same as `items`.'),
  total: z.int().describe('Total number on all pages.'),
  limit: z.int(),
  offset: z.int(),
  has_more: z.boolean(),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
  warnings,
})

const Messages = z.object({
  object: z.literal('list'),
  session_id: z.string(),
  items: z.array(SessionMessage).describe('Oldest first.'),
  data: z.array(SessionMessage).describe('Same as `items`.'),
  messages: z.array(SessionMessage).describe('Same as `items`.'),
  total: z.int().describe('Number of messages in the session.'),
  has_more: z.boolean().describe('Whether earlier messages exist.'),
  next_cursor: z.string().nullable().describe('Cursor of the earlier messages; null when there are none.'),
})

const Found = z.object({
  session_id: z.string(),
  snippet: z.string().describe('At most 200 characters around the first match.'),
  message_id: z.string().nullable().describe('Null for a match in the title.'),
  role: z.string().nullable(),
  title: z.string().nullable(),
  source: z.string(),
  model: z.string().nullable(),
  session_started: z.number().describe('Unix seconds.'),
})

const SearchReply = z.object({
  object: z.literal('list'),
  results: z.array(Found).describe('Newest match first.'),
  items: z.array(Session).describe('The sessions of the results, in their order.'),
  sessions: z.array(Session).describe('Same as `items`.'),
  total: z.int(),
  warnings,
})

/** Sessions that a key may see: its own, or all with the scope `admin`. */
const viewerOf = ({ id, scopes }: Pick<Identity, 'id' | 'scopes'>): Viewer => ({
  userId: id,
  all: scopes.has('admin'),
})

/**
 * Routes of conversations with the agent.
 *
 * @param directory sessions of this store, or together with those of an agent gateway
 */
export const sessionRoutes = ({ sessions }: Pick<Gateway, 'sessions'>, directory: SessionDirectory): Route[] => [
  listRoute(directory),
  createRoute(sessions),
  searchRoute(directory),
  ...oneSessionRoutes(directory),
  messagesRoute(directory),
]

const listRoute = (directory: SessionDirectory): Route =>
  defineRoute('GET /api/sessions', {
    operation: 'listSessions',
    summary: 'List sessions, last active first',
    description: 'A key sees its own sessions; an admin sees all.',
    access: 'platform',
    query: SessionList,
    reply: Sessions,
    async run({ query, c }) {
      const page = await directory.list({ ...query, maxBytes: REPEATED_BYTES }, viewerOf(callerOf(c)))
      const { items, next_cursor, ...rest } = page
      const { limit, offset = 0 } = query
      const has_more = next_cursor !== null
      return repeatedReply(
        { object: 'list' as const, limit, offset, has_more, next_cursor, ...rest },
        items,
        'sessions',
      )
    },
  })

const createRoute = (sessions: Gateway['sessions']): Route =>
  defineRoute('POST /api/sessions', {
    operation: 'createSession',
    summary: 'Create a session',
    access: 'platform',
    body: NewSession,
    reply: Shown,
    status: 201,
    idempotent: true,
    async run({ body, c, keep }) {
      const of = { userId: callerOf(c).id, source: 'platform' }
      return shown(await sessions.create(body, of, keep && ((trx, made) => keep(trx, shown(made)))))
    },
  })

const searchRoute = (directory: SessionDirectory): Route =>
  defineRoute('GET /api/sessions/search', {
    operation: 'searchSessions',
    summary: 'Search sessions by title and message',
    access: 'platform',
    query: SessionSearch,
    reply: SearchReply,
    async run({ query, c }) {
      const { results, ...rest } = await directory.search(query, viewerOf(callerOf(c)))
      const items = results.map(({ session }) => session)
      const found = results.map(({ session, message, snippet }) => ({
        session_id: session.id,
        snippet,
        message_id: message?.id ?? null,
        role: message?.role ?? null,
        title: session.title,
        source: session.source,
        model: session.model,
        session_started: session.started_at,
      }))
      return { object: 'list' as const, results: found, items, sessions: items, total: items.length, ...rest }
    },
  })

const oneSessionRoutes = (directory: SessionDirectory): Route[] => [
  defineRoute('GET /api/sessions/{id}', {
    operation: 'getSession',
    summary: 'Retrieve a session',
    access: 'platform',
    params: SessionPath,
    reply: Shown,
    run: async ({ params, c }) => shown(await directory.get(params.id, viewerOf(callerOf(c)))),
  }),
  defineRoute('PATCH /api/sessions/{id}', {
    operation: 'updateSession',
    summary: 'Update the title of a session, or end it',
    access: 'platform',
    params: SessionPath,
    body: SessionPatch,
    reply: Shown,
    run: async ({ params, body, c }) => shown(await directory.update(params.id, body, viewerOf(callerOf(c)))),
  }),
  defineRoute('DELETE /api/sessions/{id}', {
    operation: 'deleteSession',
    summary: 'Delete a session and its messages',
    access: 'platform',
    params: SessionPath,
    reply: z.object({ object: z.literal('session.deleted'), id: z.string(), deleted: z.literal(true) }),
    async run({ params: { id }, c }) {
      await directory.remove(id, viewerOf(callerOf(c)))
      return { object: 'session.deleted' as const, id, deleted: true as const }
    },
  }),
]

const messagesRoute = (directory: SessionDirectory): Route =>
  defineRoute('GET /api/sessions/{id}/messages', {
    operation: 'listMessages',
    summary: 'List the messages of a session',
    description: 'Each page is ordered oldest first; the first page has the newest messages.',
    access: 'platform',
    params: SessionPath,
    query: MessageList,
    reply: Messages,
    async run({ params: { id }, query, c }) {
      const viewer = viewerOf(callerOf(c))
      const page = await directory.messages(id, { ...query, maxBytes: REPEATED_BYTES }, viewer)
      const { items, next_cursor, total } = page
      const has_more = next_cursor !== null
      return repeatedReply({ object: 'list' as const, session_id: id, total, has_more, next_cursor }, items, 'messages')
    },
  })

const shown = (session: Session) => ({ object: 'session' as const, session, ...session })
