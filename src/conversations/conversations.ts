import * as z from 'zod'
import { type Base, logged } from '../base.ts'
import { GazewayError } from '../errors.ts'
import { isForgotten } from '../store/forgotten-callers.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { newId } from '../text/ids.ts'

/** Lifetime of a conversation after its last turn, in milliseconds. */
const KEPT_MS = 24 * 3_600_000
/** Maximum number of turns of a conversation. */
const MAX_TURNS = 50
/** Size limit of a conversation's messages as JSON, in bytes: all of them are sent with each question. */
const MAX_BYTES = 1024 * 1024
const SWEEP_MS = 600_000

/** Input field of tools. */
export const ConversationId = z.string().max(64).optional().describe('conversation_id of the answer to continue.')

/** Output field of tools. Null when the answer was too long to be stored. */
export const AnsweredId = z
  .string()
  .nullable()
  .describe('Id to continue with, for 24 hours; null when it cannot be continued.')

/** A chat message, sent or received. */
export interface Said {
  role: string
  content?: unknown
}

/** A new or continued conversation. */
export interface Conversation {
  /** Earlier messages, oldest first. */
  messages: readonly Said[]
  /**
   * Stores a turn. Never throws, as the answer is already paid for.
   *
   * @param turn the question and its answer
   * @returns the id to continue with; null when the conversation is too long, has all its turns, or could not be stored
   */
  keep(turn: readonly Said[]): Promise<string | null>
}

/** Conversations through the tools, which can be continued. */
export interface Conversations {
  /**
   * Opens a conversation.
   *
   * @param owner key that owns it; null for the person who owns the machine
   * @throws GazewayError `not_found` for one that is over 24 hours old or belongs to another; `conflict` for one that
   *   has all its turns
   */
  open(id: string | undefined, owner: string | null): Promise<Conversation>
  /** Sweeps for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Opens the conversations. */
export const liveConversations = (base: Base): Conversations =>
  createConversations({ ...base, onError: logged(base, 'Failed to store an answer in its conversation.', 'warn') })

/**
 * Creates the conversations.
 *
 * @param deps.onError called with a turn that could not be stored
 */
export function createConversations(deps: {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
}): Conversations {
  const { store, now, onError } = deps

  return {
    async open(given, owner) {
      const [id, whose] = [given ?? newId('conv'), owner ?? '']
      return {
        messages: given === undefined ? [] : await read(store.db, { id, owner: whose, at: now() }),
        keep: (turn) =>
          write(store, { id, owner: whose, at: now() }, turn).catch((error) => {
            onError(error)
            return null
          }),
      }
    },
    sweeps: [{ name: 'conversations.expired', everyMs: SWEEP_MS, batch: (limit) => sweep(store, now(), limit) }],
  }
}

/** A conversation of an owner, as of a time. */
interface Owned {
  id: string
  owner: string
  at: Date
}

async function read(db: Store['db'], { id, owner, at }: Owned): Promise<Said[]> {
  const found = await db
    .selectFrom('conversations')
    .select('turns')
    .where('id', '=', id)
    .where('owner', '=', owner)
    .where('expires_at', '>', at.toISOString())
    .executeTakeFirst()
  if (!found)
    throw new GazewayError(
      'not_found',
      'There is no such conversation, or it is over 24 hours old. Omit conversation_id to start a new one.',
      { param: 'conversation_id' },
    )
  if (found.turns >= MAX_TURNS)
    throw new GazewayError(
      'conflict',
      `The conversation has all its ${MAX_TURNS} turns. Omit conversation_id to start a new one.`,
      { param: 'conversation_id' },
    )
  const rows = await db
    .selectFrom('conversation_turns')
    .select('messages')
    .where('conversation_id', '=', id)
    .orderBy('turn')
    .execute()
  return rows.flatMap(({ messages }) => JSON.parse(messages) as Said[])
}

async function write(store: Store, { id, owner, at }: Owned, turn: readonly Said[]): Promise<string | null> {
  const messages = JSON.stringify(turn)
  const added = Buffer.byteLength(messages)
  if (added > MAX_BYTES) return null
  const expires_at = new Date(at.getTime() + KEPT_MS).toISOString()
  return store.write(async (trx) => {
    if (await isForgotten(trx, owner)) return null
    await trx
      .insertInto('conversations')
      .values({ id, owner, turns: 0, bytes: 0, expires_at })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    const { turns, bytes } = await trx
      .selectFrom('conversations')
      .select(['turns', 'bytes'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (turns >= MAX_TURNS || bytes + added > MAX_BYTES) return null
    await trx
      .insertInto('conversation_turns')
      .values({ conversation_id: id, turn: turns + 1, messages })
      .execute()
    await trx
      .updateTable('conversations')
      .set({ turns: turns + 1, bytes: bytes + added, expires_at })
      .where('id', '=', id)
      .execute()
    return id
  })
}

/** Deletes at most `limit` conversations that are over. @returns their number */
function sweep(store: Store, at: Date, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const over = await trx
      .selectFrom('conversations')
      .select('id')
      .where('expires_at', '<=', at.toISOString())
      .orderBy('expires_at')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    const ids = over.map(({ id }) => id)
    if (ids.length === 0) return 0
    await trx.deleteFrom('conversation_turns').where('conversation_id', 'in', ids).execute()
    await trx.deleteFrom('conversations').where('id', 'in', ids).execute()
    return ids.length
  })
}
