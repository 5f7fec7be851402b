import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { isWhole, WHOLE } from '../store/text.ts'
import { newId } from '../text/ids.ts'
import { ENVIRONMENT_IDENTITY, type Identity, requireScope } from './identity.ts'
import { keysInForce } from './in-force.ts'
import { hashToken } from './key-token.ts'

/** How long a ticket opens a connection, in milliseconds. */
const TICKET_MS = 60_000
/** Random bytes of a ticket: as many as a key's secret has. */
const TICKET_BYTES = 32

/** What a connection may do: chat, or ask for the operator's figures as well. */
export const Role = z.enum(['user', 'admin'])
export type Role = z.infer<typeof Role>

/** The form of a ticket; what has another is none, and costs no query. */
export const Ticket = z
  .string()
  .regex(/^gzt_[\w-]{43}$/)
  .meta({ accepted: 'a ticket from POST /api/connections' })

/** What a ticket is made from. */
export const NewTicket = z.strictObject({
  user: z
    .string()
    .trim()
    .regex(/^\P{Cc}{1,200}$/u)
    .refine(isWhole, WHOLE)
    .describe('Who chats on the connection.')
    .meta({ accepted: 'text of 1 to 200 characters on one line' }),
  role: Role.default('user').describe(
    "admin may also ask for the operator's figures; an admin's key makes such tickets.",
  ),
})

/** A ticket as whoever asked for it gets it, once. `id` is the connection's that it opens. */
export interface IssuedTicket {
  id: string
  ticket: string
  expiresAt: string
}

/** Whom a ticket admits. */
export interface Admission {
  /** The id of the connection. */
  id: string
  user: string
  role: Role
  /** Who made the ticket; on a connection of the role `user`, without the scope `admin`. */
  identity: Identity
}

/** Tickets open one agent socket each, in whichever process on the store, where a key cannot be sent. */
export interface Tickets {
  /** @throws GazewayError `insufficient_scope` when the role is `admin` and the key is no admin's */
  issue(input: z.output<typeof NewTicket>, maker: Identity): Promise<IssuedTicket>
  /**
   * Uses a ticket up.
   *
   * @throws GazewayError `invalid_ticket`, the same whether it was used, has expired, is unknown, or its key
   *   was revoked or changed or has expired
   */
  redeem(ticket: string): Promise<Admission>
  /**
   * Takes back a ticket that was not used yet.
   *
   * @param keyId whose it must be; null is anyone's
   * @returns whether there was one
   */
  cancel(id: string, keyId: string | null): Promise<boolean>
}

/**
 * The tickets in `store`, by the clock `now`. Only their hashes are kept.
 *
 * @param deps.fixedKey the fixed key of the configuration, asked with each ticket: one that it made is good for as long as it stays
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
      // One statement takes the row away: of those who come at once, one gets it.
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

/** What is kept of a ticket; of one of the fixed key's, whose id outlives it, a hash over both. */
const hashOf = (ticket: string, fixedKey: string | null): string => hashToken(ticket + (fixedKey ?? '')).toString('hex')

/** Clears away at most `limit` tickets that expired unused. @returns how many */
export async function sweepTickets({ db }: Store, now: Date, limit: number): Promise<number> {
  const expired = db
    .selectFrom('connection_tickets')
    .select('id')
    .where('expires_at', '<=', now.toISOString())
    .limit(limit)
  return (await db.deleteFrom('connection_tickets').where('id', 'in', expired).returning('id').execute()).length
}

/** The stored key behind a ticket, as it is now. */
async function makerOf(db: Kysely<Schema>, keyId: string, now: Date): Promise<Identity> {
  const [key] = await keysInForce(db, { id: keyId }, now)
  if (key === undefined) throw notGood()
  return key
}

/** Whoever holds a user's ticket does not act as the admin who made it. */
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
