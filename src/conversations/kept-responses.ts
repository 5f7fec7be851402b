import type { Transaction } from 'kysely'
import { type Base, logged } from '../base.ts'
import { OWN_RESPONSE } from '../inference/api/own-response.ts'
import { isForgotten } from '../store/forgotten-callers.ts'
import type { Schema } from '../store/schema.ts'

const DAY_MS = 24 * 3_600_000
/** Size limit of one conversation as JSON, in bytes. Longer ones cannot be continued. */
const LARGEST_BYTES = 8 * 1024 * 1024
/** Limits of what a key keeps; its oldest responses are deleted. */
const MOST_OF_OWNER = { responses: 1_000, bytes: 64 * 1024 * 1024 }

/** A conversation that is kept, before it is read. */
export interface KeptConversation {
  /** Size of its items as JSON. */
  bytes: number
  /** Reads its items, a list in JSON. Null when it was deleted meanwhile. */
  read(): Promise<string | null>
}

/** A Response and its conversation, each in JSON. */
export interface KeptResponse {
  /** Items of the conversation, up to and including those of the Response. */
  items: string
  response: string
}

/** Turns of a kept conversation in its table. */
const [ITEMS, RESPONSE] = [1, 2]

/**
 * Responses that no upstream has stored, to be continued with `previous_response_id`, and read. Each is a conversation
 * under its id: its items, and the Response itself.
 */
export interface KeptResponses {
  /**
   * Finds the conversation up to and including a Response.
   *
   * @param owner id of the key that it belongs to; null without keys
   * @returns null for one that is not kept, or belongs to another
   */
  find(id: string, owner: string | null): Promise<KeptConversation | null>
  /** Reads a Response itself. Null as for `find`. */
  read(id: string, owner: string | null): Promise<KeptResponse | null>
  /** Keeps a conversation and its last Response for `responses.keep_days`. Never rejects. */
  keep(id: string, owner: string | null, kept: Promise<KeptResponse>): Promise<void>
  /** Deletes a conversation. @returns false for one that is not kept, or belongs to another */
  delete(id: string, owner: string | null): Promise<boolean>
}

/**
 * Opens the kept responses. Nothing is kept while `responses.keep_days` is 0.
 *
 * @param most limits of what a key keeps
 */
export function liveKeptResponses(base: Base, most = MOST_OF_OWNER): KeptResponses {
  const { store, now, config } = base
  const keepDays = () => config.current().config.responses.keep_days
  const onError = logged(base, 'Failed to keep a response; it cannot be continued.', 'warn')
  /** Responses on their way to the store: the next request may come before they are written. */
  const writing = new Map<string, Promise<void>>()

  async function write(id: string, owner: string, { items, response }: KeptResponse): Promise<void> {
    const bytes = Buffer.byteLength(items) + Buffer.byteLength(response)
    if (bytes > LARGEST_BYTES) return
    const expires_at = new Date(now().getTime() + keepDays() * DAY_MS).toISOString()
    await store.write((trx) => insertKept(trx, { id, owner, bytes, expires_at }, { items, response }, most))
  }

  async function turn(id: string, number: number): Promise<string | null> {
    const found = await store.db
      .selectFrom('conversation_turns')
      .select('messages')
      .where('conversation_id', '=', id)
      .where('turn', '=', number)
      .executeTakeFirst()
    return found?.messages ?? null
  }

  async function find(id: string, owner: string | null): Promise<KeptConversation | null> {
    if (!id.startsWith(OWN_RESPONSE)) return null
    await writing.get(id)
    const found = await store.db
      .selectFrom('conversations')
      .select('bytes')
      .where('id', '=', id)
      .where('owner', '=', ownerOf(owner))
      .where('expires_at', '>', now().toISOString())
      .executeTakeFirst()
    return found ? { bytes: found.bytes, read: () => turn(id, ITEMS) } : null
  }

  return {
    find,
    async read(id, owner) {
      if ((await find(id, owner)) === null) return null
      const [items, response] = await Promise.all([turn(id, ITEMS), turn(id, RESPONSE)])
      return items === null || response === null ? null : { items, response }
    },
    async keep(id, owner, kept) {
      if (keepDays() === 0) return
      const written = kept.then((one) => write(id, ownerOf(owner), one)).catch(onError)
      writing.set(id, written)
      await written
      writing.delete(id)
    },
    async delete(id, owner) {
      if (!id.startsWith(OWN_RESPONSE)) return false
      await writing.get(id)
      return store.write(async (trx) => {
        const found = await trx
          .selectFrom('conversations')
          .select('id')
          .where('id', '=', id)
          .where('owner', '=', ownerOf(owner))
          .executeTakeFirst()
        if (found) await remove(trx, [id])
        return found !== undefined
      })
    },
  }
}

/** Writes a conversation and its last Response, and deletes the oldest of its owner beyond the limits. */
async function insertKept(
  trx: Transaction<Schema>,
  row: { id: string; owner: string; bytes: number; expires_at: string },
  { items, response }: KeptResponse,
  most: typeof MOST_OF_OWNER,
): Promise<void> {
  const { id, owner } = row
  if (await isForgotten(trx, owner)) return
  await trx
    .insertInto('conversations')
    .values({ ...row, turns: 2 })
    .execute()
  const turns = [
    { conversation_id: id, turn: ITEMS, messages: items },
    { conversation_id: id, turn: RESPONSE, messages: response },
  ]
  await trx.insertInto('conversation_turns').values(turns).execute()
  await remove(trx, await beyondLimits(trx, owner, most))
}

/** Owner in the table: conversations through the tools are apart. */
const ownerOf = (keyId: string | null): string => `response:${keyId ?? ''}`

/** Ids of the oldest responses of an owner, beyond its limits. */
async function beyondLimits(trx: Transaction<Schema>, owner: string, most: typeof MOST_OF_OWNER): Promise<string[]> {
  const newest = await trx
    .selectFrom('conversations')
    .select(['id', 'bytes'])
    .where('owner', '=', owner)
    .orderBy('expires_at', 'desc')
    .execute()
  let size = 0
  return newest.flatMap(({ id, bytes }, index) => {
    size += bytes
    return index >= most.responses || size > most.bytes ? id : []
  })
}

async function remove(trx: Transaction<Schema>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx.deleteFrom('conversation_turns').where('conversation_id', 'in', ids).execute()
  await trx.deleteFrom('conversations').where('id', 'in', ids).execute()
}
