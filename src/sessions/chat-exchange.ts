import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { isForgotten } from '../store/forgotten-callers.ts'
import type { Schema } from '../store/schema.ts'
import type { SessionRow } from '../store/tables/sessions-tables.ts'
import { distinctWords } from '../text/words.ts'
import { countSession } from './session-totals.ts'

/** Length of a session's preview in characters. */
const PREVIEW = 80

/** A user's message and its complete answer. */
export interface Exchange {
  /** The session and its owner. */
  session: { id: string; user_id: string }
  /** Values to create the session with when it does not exist; null to require it. */
  create: Pick<SessionRow, 'source' | 'model'> | null
  /** `at`: start of the turn, RFC 3339 UTC. The answer gets the time of storage. */
  user: { id: string; content: string; name: string | null; tokens: number; at: string }
  assistant: {
    id: string
    content: string
    tokens: number
    tensor: string
    poaScore: number
    callId: string
  }
  usage: { input: number; output: number }
  costMicros: number
}

/** Builds a session without messages. */
export function emptySession(
  of: Pick<SessionRow, 'id' | 'user_id' | 'source' | 'model'> & Partial<SessionRow>,
  at: string,
): SessionRow {
  return {
    title: null,
    started_at: at,
    last_active_at: at,
    ended_at: null,
    end_reason: null,
    parent_session_id: null,
    message_count: 0,
    tool_call_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_micros: 0,
    preview: '',
    ...of,
  }
}

/** Inserts a session. @returns false when its id exists */
export async function addSession(trx: Transaction<Schema>, row: SessionRow): Promise<boolean> {
  const added = await trx
    .insertInto('sessions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added === undefined) return false
  await countSession(trx, row, 1)
  return true
}

/**
 * Adds an exchange to its session in one transaction: both messages, the session's totals and its search index. Reopens
 * an ended session.
 *
 * @throws GazewayError `not_found` when the session was deleted
 */
export async function addExchange(trx: Transaction<Schema>, exchange: Exchange, at: string): Promise<void> {
  const { session, create, user, assistant, usage, costMicros } = exchange
  if (create !== null && !(await isForgotten(trx, session.user_id)))
    await addSession(trx, emptySession({ ...session, ...create }, at))
  const changed = await trx
    .updateTable('sessions')
    .set({
      message_count: sql`message_count + 2`,
      input_tokens: sql`input_tokens + ${usage.input}`,
      output_tokens: sql`output_tokens + ${usage.output}`,
      cost_micros: sql`cost_micros + ${costMicros}`,
      last_active_at: at,
      ended_at: null,
      end_reason: null,
      preview: sql`case when preview = '' then ${previewOf(user.content)} else preview end`,
    })
    .where('id', '=', session.id)
    .where('user_id', '=', session.user_id)
    .returning('message_count')
    .executeTakeFirst()
  if (changed === undefined) throw sessionUnknown(session.id)
  const position = changed.message_count - 1
  await trx
    .insertInto('session_messages')
    .values([
      {
        session_id: session.id,
        position,
        id: user.id,
        role: 'user',
        name: user.name,
        content: user.content,
        at: user.at,
        tensor: null,
        poa_score: null,
        token_count: user.tokens,
        call_id: null,
      },
      {
        session_id: session.id,
        position: position + 1,
        id: assistant.id,
        role: 'assistant',
        name: null,
        content: assistant.content,
        at,
        tensor: assistant.tensor,
        poa_score: assistant.poaScore,
        token_count: assistant.tokens,
        call_id: assistant.callId,
      },
    ])
    .execute()
  const words_text = distinctWords(user.content, assistant.content).join(' ')
  await trx
    .insertInto('session_texts')
    .values({ session_id: session.id, user_id: session.user_id, position, words_text })
    .execute()
}

/** Error for an unknown session, or one of another user. */
export function sessionUnknown(id: string): GazewayError {
  return new GazewayError('not_found', `There is no session ${id}; GET /api/sessions lists them.`, { param: 'id' })
}

function previewOf(text: string): string {
  const line = text
    .slice(0, 8 * PREVIEW)
    .replace(/\s+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length > PREVIEW
    ? `${characters.slice(0, PREVIEW - 1).join('')}…`
    : line.replace(/\p{Surrogate}/gu, '')
}
