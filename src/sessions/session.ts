import { z } from 'zod'
import { ListQuery, type Page, type Paged } from '../store/page.ts'
import type { SessionMessageRow, SessionRow } from '../store/tables/sessions-tables.ts'
import { isWhole, WHOLE } from '../store/text.ts'
import { toUsd } from '../text/money.ts'
import { REMOTE_PREFIX } from '../text/remote-id.ts'

/** The largest message, as UTF-8. */
export const MAX_MESSAGE_BYTES = 256 * 1024

/** Text that both engines can hold as it is: PostgreSQL has no NUL in text, and UTF-8 no half of a surrogate pair. */
const plain = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
    .refine(isWhole, WHOLE)

/** What a user says in one message. */
export const MessageText = plain(1, MAX_MESSAGE_BYTES).refine(
  (text) => Buffer.byteLength(text) <= MAX_MESSAGE_BYTES,
  'must be at most 256 KiB as UTF-8',
)

/** The id of a session: `ses_…`, or one that its creator chose. */
export const SessionId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/)
  .meta({ accepted: '1 to 128 letters, digits, or any of _ . : -' })

/** What is no id in a path: clients take the dots out of it, and the routes beside `/api/sessions/{id}` have the word. */
const NO_ID_IN_A_PATH = ['.', '..', 'search']

/** An id that a creator may choose: one that a path can name, and not one that an upstream's sessions have here. */
export const OwnSessionId = SessionId.refine(
  (id) => !id.startsWith(REMOTE_PREFIX),
  `must not begin with "${REMOTE_PREFIX}"`,
).refine((id) => !NO_ID_IN_A_PATH.includes(id), 'must not be ".", ".." or "search": no path would lead to the session')

const Title = plain(1, 200).nullable()
const seconds = z.number().describe('Unix seconds.')

/** A conversation with the agent, without its messages. */
export const Session = z.object({
  id: z.string(),
  title: z.string().nullable(),
  user_id: z.string().describe('The id of the key that it belongs to.'),
  source: z
    .string()
    .describe('Where it is: `platform` or `socket` for those made here, `upstream` on the agent gateway.'),
  upstream_source: z.string().optional().describe('Where the agent gateway has it from.'),
  model: z.string().nullable().describe('The model that answers.'),
  started_at: seconds,
  last_active: seconds,
  ended_at: seconds.nullable(),
  end_reason: z.string().nullable(),
  parent_session_id: z.string().nullable(),
  message_count: z.int(),
  tool_call_count: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  estimated_cost_usd: z.number().nullable(),
  preview: z.string().describe('How the first message begins, on one line.'),
})
export type Session = z.infer<typeof Session>

/** One message of a session. What classifies an exchange stands with its answer. */
export const SessionMessage = z.object({
  id: z.string(),
  session_id: z.string(),
  role: z.string().describe('`user` or `assistant`; an upstream may have others.'),
  content: z.string().nullable(),
  timestamp: seconds,
  name: z.string().optional().describe('Who spoke, where the user gave a name.'),
  tensor: z.string().optional().describe('How the exchange is classified: COG:0.62/EMO:0.14/ENV:0.24'),
  poa_score: z.number().optional().describe('Proof of attention at the time of the answer, 0 to 1.'),
  token_count: z.int().optional(),
})
export type SessionMessage = z.infer<typeof SessionMessage>

/** What a session is made from. Whatever else a client of an agent gateway sends is not looked at. */
export const NewSession = z.object({
  id: OwnSessionId.optional().describe('Its id; made when left out.'),
  session_id: OwnSessionId.optional().describe('The same as `id`.'),
  title: Title.optional(),
  model: plain(1, 256).nullish().describe('The model that answers in it; the configured chat model when left out.'),
  parent_session_id: SessionId.nullish().describe('The session that it goes on from.'),
})
export type NewSession = z.infer<typeof NewSession>

/** What can be changed about a session. */
export const SessionPatch = z.strictObject({
  title: Title.optional().describe('Null takes the title away.'),
  end_reason: plain(1, 200).optional().describe('Marks it as ended; the next message opens it again.'),
})
export type SessionPatch = z.infer<typeof SessionPatch>

/** Which sessions to list, the last active first. */
export const SessionList = ListQuery.extend({
  source: z.string().min(1).max(64).optional().describe('Only sessions from there.'),
})
export type SessionList = z.infer<typeof SessionList>

/** Which messages to list: the newest `limit` of them, in the order in which they were written. */
export const MessageList = z.object({
  limit: z.int().min(1).max(1000).default(200).describe('How many messages, counted from the newest.'),
  cursor: z.string().max(2048).optional().describe('`next_cursor` of an earlier reply, for the messages before those.'),
  offset: z.int().min(0).optional().describe('How many of the newest messages to skip; a cursor is faster.'),
})
export type MessageList = z.infer<typeof MessageList>

/** What to look for in titles and messages. */
export const SessionSearch = z.object({
  q: z.string().max(1000).describe('Words; a session has to have all of them, or words that begin with them.'),
  limit: z.int().min(1).max(100).default(20),
})
export type SessionSearch = z.infer<typeof SessionSearch>

/** A session that a search found. */
export interface SessionFound {
  session: Session
  /** The message that holds the words; null for the title. */
  message: Pick<SessionMessage, 'id' | 'role'> | null
  /** At most 200 characters around the first of the words. */
  snippet: string
}

/** Whose sessions somebody sees: their own, or all of them. */
export interface Viewer {
  userId: string
  all: boolean
}

/**
 * Sessions as routes see them, wherever they are kept: in this store, or beside it in that of an upstream. Somebody
 * else's session is as unknown as one that does not exist.
 */
export interface SessionDirectory {
  /**
   * The sessions, last active first. `warnings` names what is missing because it could not be asked.
   *
   * @throws GazewayError `invalid_cursor`
   */
  list(query: Paged<SessionList>, viewer: Viewer): Promise<Page<Session> & { warnings?: string[] }>
  /** @throws GazewayError `not_found` */
  get(id: string, viewer: Viewer): Promise<Session>
  /**
   * A page of messages, oldest of the page first; `next_cursor` leads to those before it.
   *
   * @throws GazewayError `not_found`, `invalid_cursor`
   */
  messages(id: string, query: Paged<MessageList>, viewer: Viewer): Promise<Page<SessionMessage>>
  /** Sessions with the words, the latest mention first. A query without a word finds none. */
  search(query: SessionSearch, viewer: Viewer): Promise<{ results: SessionFound[]; warnings?: string[] }>
  /** @throws GazewayError `not_found` */
  update(id: string, patch: SessionPatch, viewer: Viewer): Promise<Session>
  /** Deletes a session and its messages. @throws GazewayError `not_found` */
  remove(id: string, viewer: Viewer): Promise<void>
}

/** The session that a row holds. @param chatModel answers where the session names no model */
export function toSession(row: SessionRow, chatModel: string): Session {
  return {
    id: row.id,
    title: row.title,
    user_id: row.user_id,
    source: row.source,
    model: row.model ?? chatModel,
    started_at: toSeconds(row.started_at),
    last_active: toSeconds(row.last_active_at),
    ended_at: row.ended_at === null ? null : toSeconds(row.ended_at),
    end_reason: row.end_reason,
    parent_session_id: row.parent_session_id,
    message_count: row.message_count,
    tool_call_count: row.tool_call_count,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    estimated_cost_usd: toUsd(row.cost_micros),
    preview: row.preview,
  }
}

/** The message that a row holds. */
export function toMessage(row: SessionMessageRow): SessionMessage {
  return {
    id: row.id,
    session_id: row.session_id,
    role: row.role,
    content: row.content,
    timestamp: toSeconds(row.at),
    token_count: row.token_count,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.tensor === null ? {} : { tensor: row.tensor }),
    ...(row.poa_score === null ? {} : { poa_score: row.poa_score }),
  }
}

const toSeconds = (time: string): number => Date.parse(time) / 1000
