import { type ExpressionBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** How long a key is remembered, in milliseconds: 24 h. */
const KEPT_FOR_MS = 86_400_000
/** Old keys that one kept reply clears away: more than it adds, so that they cannot pile up. */
const SWEPT_PER_REPLY = 8

/** A reply as it is kept: what the first caller got. */
export interface Reply {
  status: number
  /** Only those headers that belong to the reply itself, in lower case: no request id, no date, no cookie. */
  headers?: Readonly<Record<string, string>>
  body: string
}

/** What is kept of a reply: a body that is null was secret or too large, and the request is refused when it is repeated. */
export interface KeptReply extends Omit<Reply, 'body'> {
  body: string | null
}

/** One attempt at a request under an idempotency key. */
export interface Attempt {
  scope: string
  key: string
  /** What tells this request from another one under the same key. */
  fingerprint: string
  /** Tells this attempt from others at the same request. */
  id: string
}

/** The keys that were used, and what came of it. */
export interface Claims {
  /**
   * Makes the key this attempt's own, or finds what an earlier one has left.
   *
   * @param whereLost what to do where a reply that is not kept did not arrive
   * @returns the first reply; null when the attempt may go on, and must then be renewed until it is kept or released
   * @throws GazewayError `idempotency_key_reused`, `idempotency_in_flight` or `idempotency_reply_not_kept`
   */
  claim(attempt: Attempt, whereLost?: string): Promise<Reply | null>
  /** Tells the others that this attempt is still at work. */
  renew(attempt: Attempt): Promise<void>
  /**
   * Keeps the reply of this attempt, unless it is kept or another one took over.
   *
   * @returns what the other one has answered, where it has
   */
  keep(attempt: Attempt, reply: KeptReply): Promise<Reply | null>
  /**
   * Keeps it in the transaction of what the attempt does.
   *
   * @throws GazewayError `idempotency_in_flight` when it is kept or another attempt took over; the transaction must then
   *   be given up: it would do again what is done
   */
  keepIn(trx: Transaction<Schema>, attempt: Attempt, reply: KeptReply): Promise<void>
  /** Makes the key free again, unless a reply is kept. */
  release(attempt: Attempt): Promise<void>
  /** Deletes at most `limit` keys that are no longer remembered; returns how many. */
  sweep(limit: number): Promise<number>
}

/** @param deadlineMs how long an attempt that is not renewed counts as being in flight */
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

  /** One bounded statement, so that of attempts at the same moment one wins. */
  async function take(trx: Transaction<Schema>, { scope, key, fingerprint, id }: Attempt): Promise<boolean> {
    const at = time()
    const fresh = {
      fingerprint,
      attempt: id,
      in_flight_until: after(deadlineMs),
      status: null,
      headers: null,
      body: null,
      expires_at: after(KEPT_FOR_MS),
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
        // In a transaction, so that it is known what became of it where the connection is lost: a key that is taken and not
        // worked on would be in flight for a minute.
        if (await store.write((trx) => take(trx, attempt))) return null
        const earlier = await find(attempt)
        // Released between the two statements: it is free again.
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

/** The row of an attempt, while it is neither over nor another one's. */
const isUnderWay =
  ({ scope, key, id }: Attempt) =>
  ({ eb, and }: ExpressionBuilder<Schema, 'idempotency_keys'>) =>
    and([and({ scope, key, attempt: id }), eb('in_flight_until', 'is not', null)])

/** @returns false where the attempt is over, or another one's */
async function end(
  trx: Transaction<Schema>,
  attempt: Attempt,
  { status, headers = {}, body }: KeptReply,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('idempotency_keys')
    .set({ in_flight_until: null, status, headers: JSON.stringify(headers), body })
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
      'This Idempotency-Key was used for another request. Take a new key, or send the first request unchanged.',
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

/** @param location of what the request has made, where it is known */
function notKept(
  status: number,
  { location, whereLost }: { location: string | undefined; whereLost: string | undefined },
): GazewayError {
  const made = location === undefined ? '' : ` It made ${location}.`
  const advice = whereLost === undefined ? '' : ` ${whereLost}`
  return new GazewayError(
    'idempotency_reply_not_kept',
    `The request with this Idempotency-Key was answered with status ${status}, and is not done again; ` +
      `its reply held a secret or was too large to keep.${made}${advice}`,
    { param: 'idempotency-key' },
  )
}

const inFlight = () =>
  new GazewayError(
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still being worked on; ask again soon for its reply.',
    { param: 'idempotency-key', retryAfterSeconds: 1 },
  )

async function sweepExpired(db: Store['db'], now: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from idempotency_keys where expires_at <= ${now} and (scope, key) in
    (select scope, key from idempotency_keys where expires_at <= ${now} order by expires_at limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}
