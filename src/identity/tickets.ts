import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import { isWhole, WHOLE } from '../store/storable-text.ts'
import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import { keysInForce } from './find-keys.ts'
import { ENVIRONMENT_IDENTITY, type Identity, requireScope } from './identity.ts'
import { hashToken } from './key-token.ts'

/** Lifetime of a ticket in milliseconds. */
const TICKET_MS = 60_000
/** Random bytes of a ticket, as many as a key's secret. */
const TICKET_BYTES = 32

/** Role of a connection: `user` chats, `admin` may also read the operator's figures. */
export const Role = z.enum(['user', 'admin'])
export type Role = z.infer<typeof Role>

/** Form of a ticket. Other text is rejected without a query. */
export const Ticket = z
  .string()
  .regex(/^gzt_[\w-]{43}$/)
  .meta({ accepted: 'a ticket from POST /api/connections' })

/** A request for a ticket. */
export const NewTicket = z.strictObject({
  user: z
    .string()
    .trim()
    .regex(/^\P{Cc}{1,200}$/u)
    .refine(isWhole, WHOLE)
    .describe('Name of the chatting user.')
    .meta({ accepted: 'text of 1 to 200 characters on one line' }),
  role: Role.default('user').describe(
    "admin may also ask for the operator's figures; only an admin's key can create such tickets.",
  ),
})

/** A new ticket, shown once. `id` is that of the connection it opens. */
export interface IssuedTicket {
  id: string
  ticket: string
  expiresAt: string
}

/** Caller that a ticket admits. */
export interface Admission {
  /** Id of the connection. */
  id: string
  user: string
  role: Role
  /** Creator of the ticket; without the scope `admin` on a connection of the role `user`. */
  identity: Identity
}

/** Tickets that each open one agent socket, in any process on the store, for clients that cannot send a key. */
export interface Tickets {
  /** Issues a ticket. @throws GazewayError `insufficient_scope` for the role `admin` without an admin's key */
  issue(input: z.output<typeof NewTicket>, maker: Identity): Promise<IssuedTicket>
  /**
   * Uses a ticket.
   *
   * @throws GazewayError `invalid_ticket`, the same whether it was used, has expired, is unknown, or its key was
   *   revoked, changed or has expired
   */
  redeem(ticket: string): Promise<Admission>
  /**
   * Cancels an unused ticket.
   *
   * @param keyId its creator; null for anyone
   * @returns whether it existed
   */
  cancel(id: string, keyId: string | null): Promise<boolean>
}

/**
 * Creates the tickets of `store`, by the clock `now`. Stores only hashes.
 *
 * @param deps.fixedKey the configuration's fixed key, read for each ticket. Its tickets become invalid when it changes
 */
export function createTickets(deps: { store: Store; now: () => Date; fixedKey: () => string | null }): Tickets {
  const { store, now, fixedKey } = deps
  const { db } = store
  return {
    async issue({ user, role }, maker) {
      if (role === 'admin') requireScope(maker, 'admin')
      const id = newId('conn')
      const ticket = `gzt_${randomBytes(TICKET_BYTES).toString('base64url')}`
      const expiresAt = new Date(now().getTime() + TICKET_MS).toISOString()
      const hash = hashOf(ticket, maker.id === ENVIRONMENT_IDENTITY.id ? fixedKey() : null)
      await db
        .insertInto('connection_tickets')
        .values({ id, hash, key_id: maker.id, user_name: user, role, expires_at: expiresAt })
        .execute()
      return { id, ticket, expiresAt }
    },

    async redeem(ticket) {
      if (!Ticket.safeParse(ticket).success) throw notGood()
      const fixed = fixedKey()
      const ofFixedKey = fixed === null ? null : hashOf(ticket, fixed)
      // One statement deletes the row, so one of several concurrent requests gets it.
      const row = await db
        .deleteFrom('connection_tickets')
        .where('hash', 'in', [hashOf(ticket, null), ...(ofFixedKey === null ? [] : [ofFixedKey])])
        .where('expires_at', '>', now().toISOString())
        .returning(['id', 'hash', 'key_id', 'user_name', 'role'])
        .executeTakeFirst()
      if (row === undefined) throw notGood()
      const maker = row.hash === ofFixedKey ? ENVIRONMENT_IDENTITY : await makerOf(db, row.key_id, now())
      const role = Role.parse(row.role)
      return { id: row.id, user: row.user_name, role, identity: role === 'admin' ? maker : withoutAdmin(maker) }
    },

    async cancel(id, keyId) {
      let query = db.deleteFrom('connection_tickets').where('id', '=', id).where('expires_at', '>', now().toISOString())
      if (keyId !== null) query = query.where('key_id', '=', keyId)
      return (await query.returning('id').execute()).length === 1
    },
  }
}

/** Hashes a ticket. The id of the fixed key outlives the key, so the hash of its tickets includes the key. */
const hashOf = (ticket: string, fixedKey: string | null): string => hashToken(ticket + (fixedKey ?? '')).toString('hex')

/** Deletes at most `limit` expired unused tickets. @returns how many */
export async function sweepTickets({ db }: Store, now: Date, limit: number): Promise<number> {
  const expired = db
    .selectFrom('connection_tickets')
    .select('id')
    .where('expires_at', '<=', now.toISOString())
    .limit(limit)
  return (await db.deleteFrom('connection_tickets').where('id', 'in', expired).returning('id').execute()).length
}

/** Reads the current key behind a ticket. */
async function makerOf(db: Kysely<Schema>, keyId: string, now: Date): Promise<Identity> {
  const [key] = await keysInForce(db, { id: keyId }, now)
  if (key === undefined) throw notGood()
  return key
}

/** Removes the scope `admin`: the holder of a user's ticket is not the admin who created it. */
function withoutAdmin(identity: Identity): Identity {
  const scopes = new Set([...identity.scopes].filter((scope) => scope !== 'admin'))
  return { ...identity, scopes }
}

function notGood(): GazewayError {
  return new GazewayError(
    'invalid_ticket',
    'The ticket is not valid: it was used, is older than 60 s, or is unknown. Get one with POST /api/connections.',
  )
}
