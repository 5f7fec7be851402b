import { type ExpressionBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { unlessForgotten } from '../store/forgotten-callers.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** Lifetime of a key in milliseconds: 24 h. */
const KEPT_FOR_MS = 86_400_000
/** Expired keys that each stored reply deletes; more than one, so that they cannot accumulate. */
const SWEPT_PER_REPLY = 8

/** A stored reply. */
export interface Reply {
  status: number
  /** Headers of the reply itself, in lower case: no request id, date or cookie. */
  headers?: Readonly<Record<string, string>>
  body: string
}

/** A reply to store. A null body was secret or too large, and a repeated request is refused. */
export interface KeptReply extends Omit<Reply, 'body'> {
  body: string | null
}

/** One attempt at a request under an idempotency key. */
export interface Attempt {
  scope: string
  key: string
  /** Distinguishes different requests under the same key. */
  fingerprint: string
  /** Distinguishes attempts at the same request. */
  id: string
}

/** Used keys and their replies. */
export interface Claims {
  /**
   * Claims a key for an attempt, or finds the reply of an earlier one.
   *
   * @param whereLost advice for a client that lost a reply that is not stored
   * @returns the first reply; null when the attempt may proceed and must renew until it keeps or releases
   * @throws GazewayError `idempotency_key_reused`, `idempotency_in_flight` or `idempotency_reply_not_kept`
   */
  claim(attempt: Attempt, whereLost?: string): Promise<Reply | null>
  /** Renews the lease of an attempt. */
  renew(attempt: Attempt): Promise<void>
  /**
   * Stores the reply of an attempt, unless one is stored or another attempt took over.
   *
   * @returns the reply of the other attempt, if any
   */
  keep(attempt: Attempt, reply: KeptReply): Promise<Reply | null>
  /**
   * Stores the reply in the transaction of the attempt's effect.
   *
   * @throws GazewayError `idempotency_in_flight` when a reply is stored or another attempt took over; the transaction
   *   must then be rolled back, as its effect would happen twice
   */
  keepIn(trx: Transaction<Schema>, attempt: Attempt, reply: KeptReply): Promise<void>
  /** Frees the key, unless a reply is stored. */
  release(attempt: Attempt): Promise<void>
  /** Deletes at most `limit` expired keys. @returns how many */
  sweep(limit: number): Promise<number>
}

/** Creates the claims of a store. @param deadlineMs lease of an attempt */
export function createClaims({
  store,
  now,
  deadlineMs,
}: {
  store: Store
  now: () => Date
  deadlineMs: number
}): Claims {
  const { db } = store
  const time = () => now().toISOString()
  const after = (ms: number) => new Date(now().getTime() + ms).toISOString()
  const lease = () => ({ at: time(), inFlightUntil: after(deadlineMs), expiresAt: after(KEPT_FOR_MS) })

  function find({ scope, key }: Attempt) {
    return db
      .selectFrom('idempotency_keys')
      .select(['attempt', 'fingerprint', 'in_flight_until', 'status', 'headers', 'body'])
      .where('scope', '=', scope)
      .where('key', '=', key)
      .executeTakeFirst()
  }

  return {
    async claim(attempt, whereLost) {
      for (;;) {
        // In a transaction, so that its outcome is known when the connection is lost. Otherwise a key without an
        // attempt could be in flight for a minute.
        if (await store.write((trx) => take(trx, attempt, lease()))) return null
        const earlier = await find(attempt)
        // Released between the two statements, so the key is free again.
        if (earlier) return replyOf(earlier, attempt, whereLost)
      }
    },

    async renew(attempt) {
      await db
        .updateTable('idempotency_keys')
        .set({ in_flight_until: after(deadlineMs) })
        .where(isUnderWay(attempt))
        .execute()
    },

    async keep(attempt, reply) {
      const kept = await store.write(async (trx) => {
        await sweepExpired(trx, time(), SWEPT_PER_REPLY)
        return end(trx, attempt, reply)
      })
      const first = kept ? undefined : await find(attempt)
      if (!first || first.attempt === attempt.id || first.fingerprint !== attempt.fingerprint) return null
      return first.status === null || first.body === null ? null : readReply(first.status, first.headers, first.body)
    },

    async keepIn(trx, attempt, reply) {
      if (!(await end(trx, attempt, reply))) throw inFlight()
    },

    async release(attempt) {
      await db.deleteFrom('idempotency_keys').where(isUnderWay(attempt)).execute()
    },

    sweep: (limit) => sweepExpired(db, time(), limit),
  }
}

/** Claims in one statement, so that one of several concurrent attempts wins. */
async function take(
  trx: Transaction<Schema>,
  { scope, key, fingerprint, id }: Attempt,
  { at, inFlightUntil, expiresAt }: { at: string; inFlightUntil: string; expiresAt: string },
): Promise<boolean> {
  const fresh = {
    fingerprint,
    attempt: id,
    in_flight_until: inFlightUntil,
    status: null,
    headers: null,
    body: null,
    expires_at: expiresAt,
  }
  const taken = await trx
    .insertInto('idempotency_keys')
    .values({ scope, key, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'key'])
        .doUpdateSet(fresh)
        .where(
          sql<boolean>`idempotency_keys.expires_at <= ${at} or
            (idempotency_keys.in_flight_until <= ${at} and idempotency_keys.fingerprint = ${fingerprint})`,
        ),
    )
    .returning('attempt')
    .execute()
  return taken.length === 1
}

/** Selects the row of an attempt that still holds its key. */
const isUnderWay =
  ({ scope, key, id }: Attempt) =>
  ({ eb, and }: ExpressionBuilder<Schema, 'idempotency_keys'>) =>
    and([and({ scope, key, attempt: id }), eb('in_flight_until', 'is not', null)])

/** @returns false when the attempt has ended or was taken over */
async function end(
  trx: Transaction<Schema>,
  attempt: Attempt,
  { status, headers = {}, body }: KeptReply,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('idempotency_keys')
    .set({
      in_flight_until: null,
      status,
      headers: JSON.stringify(headers),
      body: unlessForgotten(attempt.scope, body),
    })
    .where(isUnderWay(attempt))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

function replyOf(
  row: {
    fingerprint: string
    in_flight_until: string | null
    status: number | null
    headers: string | null
    body: string | null
  },
  attempt: Attempt,
  whereLost: string | undefined,
): Reply {
  if (row.fingerprint !== attempt.fingerprint)
    throw new GazewayError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request. Use a new key, or send the first request unchanged.',
      { param: 'idempotency-key' },
    )
  if (row.in_flight_until !== null || row.status === null) throw inFlight()
  const reply = readReply(row.status, row.headers, row.body ?? '')
  if (row.body === null) throw notKept(row.status, { location: reply.headers.location, whereLost })
  return reply
}

const readReply = (status: number, headers: string | null, body: string) => ({
  status,
  headers: JSON.parse(headers ?? '{}') as Record<string, string>,
  body,
})

/** @param location of the created resource, when known */
function notKept(
  status: number,
  { location, whereLost }: { location: string | undefined; whereLost: string | undefined },
): GazewayError {
  const made = location === undefined ? '' : ` It made ${location}.`
  const advice = whereLost === undefined ? '' : ` ${whereLost}`
  return new GazewayError(
    'idempotency_reply_not_kept',
    `The request with this Idempotency-Key was answered with status ${status} and is not repeated; ` +
      `its reply was secret or too large to store.${made}${advice}`,
    { param: 'idempotency-key' },
  )
}

const inFlight = () =>
  new GazewayError(
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still running. Retry soon for its reply.',
    { param: 'idempotency-key', retryAfterSeconds: 1 },
  )

async function sweepExpired(db: Store['db'], now: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from idempotency_keys where expires_at <= ${now} and (scope, key) in
    (select scope, key from idempotency_keys where expires_at <= ${now} order by expires_at limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}
