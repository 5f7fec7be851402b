import type { Transaction } from 'kysely'
import { type Base, logged } from '../base.ts'
import { OWN_RESPONSE } from '../inference/api/own-response.ts'
import type { Schema } from '../store/schema.ts'
import type { Fields } from '../text/typed-reader.ts'
import { stringifyInTurns } from '../wire/large-json.ts'

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

/**
 * Conversations of Responses that no upstream has stored, to be continued with `previous_response_id`. Each is a
 * conversation of one turn, under the id of its last Response.
 */
export interface KeptResponses {
  /**
   * Finds the conversation up to and including a Response.
   *
   * @param owner id of the key that it belongs to; null without keys
   * @returns null for one that is not kept, or belongs to another
   */
  find(id: string, owner: string | null): Promise<KeptConversation | null>
  /** Keeps a conversation for `responses.keep_days`. Never rejects. */
  keep(id: string, owner: string | null, items: readonly Fields[]): Promise<void>
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

  async function write(id: string, owner: string, items: readonly Fields[]): Promise<void> {
    const list = await listJson(items)
    const bytes = list.length
    if (bytes > LARGEST_BYTES) return
    const messages = list.toString()
    const expires_at = new Date(now().getTime() + keepDays() * DAY_MS).toISOString()
    await store.write(async (trx) => {
      await trx.insertInto('conversations').values({ id, owner, turns: 1, bytes, expires_at }).execute()
      await trx.insertInto('conversation_turns').values({ conversation_id: id, turn: 1, messages }).execute()
      await remove(trx, await beyondLimits(trx, owner, most))
    })
  }

  async function read(id: string): Promise<string | null> {
    const turns = store.db.selectFrom('conversation_turns').select('messages').where('conversation_id', '=', id)
    return (await turns.executeTakeFirst())?.messages ?? null
  }

  return {
    async find(id, owner) {
      if (!id.startsWith(OWN_RESPONSE)) return null
      await writing.get(id)
      const found = await store.db
        .selectFrom('conversations')
        .select('bytes')
        .where('id', '=', id)
        .where('owner', '=', ownerOf(owner))
        .where('expires_at', '>', now().toISOString())
        .executeTakeFirst()
      return found ? { bytes: found.bytes, read: () => read(id) } : null
    },
    async keep(id, owner, items) {
      if (keepDays() === 0) return
      const written = write(id, ownerOf(owner), items).catch(onError)
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

/** Owner in the table: conversations through the tools are apart. */
const ownerOf = (keyId: string | null): string => `response:${keyId ?? ''}`

/** Serializes a list in turns with other work, which writes the lists in an object item by item. */
async function listJson(items: readonly Fields[]): Promise<Buffer> {
  return (await stringifyInTurns({ items })).subarray('{"items":'.length, -1)
}

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
