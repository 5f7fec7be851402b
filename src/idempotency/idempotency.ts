import { createHash, randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { type Base, logged } from '../base.ts'
import { CODES, GazewayError, linkedErrorBody } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Attempt, createClaims, type KeptReply, type Reply } from './reply-claims.ts'

export type { Reply } from './reply-claims.ts'

/** Interval of the sweep for expired keys, in milliseconds. */
const SWEEP_MS = 600_000

/** Lease of an attempt in milliseconds. Without a renewal, the attempt no longer counts as in flight after it. */
const DEADLINE_MS = 60_000
/** Renewals per lease. */
const RENEWALS = 3
/** Largest stored reply body in bytes of UTF-8. */
const MAX_KEPT_BYTES = 1024 * 1024
/** Visible ASCII and spaces, as a header can carry. */
const KEY = /^[\x20-\x7e]{1,255}$/
/** Statuses that ask the client to pay, wait or retry. Stored, they would be the final reply of the request. */
const TRANSIENT = new Set([402, 408, 425, 429, 499])

/** A request with an idempotency key. */
export interface KeyedRequest {
  /** Owner of the key: the caller's id. Keys of different callers are independent. */
  scope: string
  /** The `Idempotency-Key` header. */
  key: string
  /** Method, and path with the query. */
  route: string
  /** Request body as sent. */
  body: string | Uint8Array
  /** Request id in errors, also when they are replayed. */
  requestId?: string | undefined
  /** Advice for a client that lost a secret reply, which is not stored. */
  whereLost?: string | undefined
}

/** Reply of work under an idempotency key. */
export interface WorkReply extends Reply {
  /** Secret replies are not stored. A repeated request is refused with the `location` of what was created. */
  secret?: boolean
  /** Refusals with a time to retry are not stored, so the request may be repeated. */
  isTransient?: boolean
}

/**
 * Stores the reply in the transaction of the work's effect, as its last statement. A process that dies leaves both or
 * neither. Work that creates something or moves money must call it.
 *
 * @throws GazewayError `idempotency_in_flight` when another attempt took over, or a committed transaction is retried;
 *   it must then be rolled back
 */
export type Keep<T> = (trx: Transaction<Schema>, made: T) => Promise<void>

/** Requests that take effect once. */
export interface Idempotency {
  /**
   * Runs `work` and stores its reply for 24 h. A repeated request gets the stored reply without the work, from any
   * process on the store. A `GazewayError` thrown by `work` is stored and thrown again, with the ids of its request and
   * its call.
   *
   * Not stored, so that the request may be repeated; `work` must throw these before it has any effect:
   * - replies of 5xx and other errors
   * - transient refusals: 402, 408, 425, 429, 499 and errors with a time to retry
   * - errors about the current state, such as a task that is not completed
   *
   * An attempt whose process died is repeated after 60 s unless it had stored its reply. Effects without a stored reply
   * must be idempotent, as a ledger transfer under the same key. An attempt that was only suspended gets the reply of
   * the other one.
   *
   * @param work receives the function that stores its reply, see {@link Keep}
   * @throws GazewayError, besides the errors of `work`:
   * - `validation_failed` for a key that no header can carry
   * - `idempotency_key_reused` for another request under the same key
   * - `idempotency_in_flight` while the first attempt runs
   * - `idempotency_reply_not_kept` when it succeeded with a secret reply, or one above 1 MiB
   *
   * @example
   * const createOnce = (idempotency: ReturnType<typeof createIdempotency>, key: string, body: string) =>
   *   idempotency.run({ scope: 'key_0199…', key, route: 'POST /api/notes', body }, async () => ({ status: 201, body }))
   */
  run(
    request: KeyedRequest,
    work: (keep: Keep<WorkReply>) => Promise<WorkReply>,
  ): Promise<{ reply: Reply; replayed: boolean }>
  /** Deletes at most `limit` keys older than 24 h. Each stored reply also deletes a few. @returns how many */
  sweep(limit: number): Promise<number>
  /** Periodic work, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Opens the room. */
export const liveIdempotency = (base: Base): Idempotency =>
  createIdempotency({ ...base, onError: logged(base, 'Failed to record the outcome of an idempotency key.') })

/**
 * Creates idempotency on a store.
 *
 * @param onError called when the outcome of finished work could not be stored; its caller still gets the reply
 * @param deadlineMs lease of an attempt; 60 s by default
 */
export function createIdempotency({
  store,
  now,
  onError,
  deadlineMs = DEADLINE_MS,
}: {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  deadlineMs?: number
}): Idempotency {
  const claims = createClaims({ store, now, deadlineMs })

  /** Runs the work and renews its lease, so that a slow upstream is not paid twice. */
  async function workOn(
    attempt: Attempt,
    requestId: string | undefined,
    work: () => Promise<WorkReply>,
  ): Promise<WorkReply> {
    const alive = setInterval(() => claims.renew(attempt).catch(onError), deadlineMs / RENEWALS).unref()
    try {
      return await work()
    } catch (error) {
      await noteFailure(attempt, requestId, error).catch(onError)
      throw error
    } finally {
      clearInterval(alive)
    }
  }

  /** Stores a reply. @returns the reply of another attempt that took over, if any */
  async function note(attempt: Attempt, reply: WorkReply): Promise<Reply | null> {
    if (reply.status < 500 && !TRANSIENT.has(reply.status) && !reply.isTransient)
      return claims.keep(attempt, keepable(reply))
    await claims.release(attempt)
    return null
  }

  async function noteFailure(attempt: Attempt, requestId: string | undefined, error: unknown): Promise<void> {
    if (!(error instanceof GazewayError) || passes(error)) return claims.release(attempt)
    const { status, callId } = error
    await note(attempt, {
      status,
      ...(callId !== undefined && { headers: { 'x-gazeway-call-id': callId } }),
      body: JSON.stringify({ error: linkedErrorBody(error, requestId) }),
    })
  }

  return {
    async run({ scope, key, route, body, requestId, whereLost }, work) {
      requireKey(key)
      const fingerprint = createHash('sha256').update(route).update('\n').update(body).digest('hex')
      const attempt = { scope, key, fingerprint, id: randomUUID() }
      const earlier = await claims.claim(attempt, whereLost)
      if (earlier !== null) return { reply: earlier, replayed: true }
      const keep: Keep<WorkReply> = (trx, made) => claims.keepIn(trx, attempt, keepable(made))
      const made = await workOn(attempt, requestId, () => work(keep))
      const first = await note(attempt, made).catch((error) => {
        onError(error)
        return null
      })
      if (first !== null) return { reply: first, replayed: true }
      const { secret, isTransient, ...reply } = made
      return { reply, replayed: false }
    },
    sweep: claims.sweep,
    sweeps: [{ name: 'idempotency.expired', everyMs: SWEEP_MS, batch: claims.sweep }],
  }
}

function requireKey(key: string): void {
  if (KEY.test(key)) return
  const message = 'idempotency-key: invalid format; must be 1 to 255 visible ASCII characters.'
  throw new GazewayError('validation_failed', message, { param: 'idempotency-key' })
}

/** Part of a reply to store: its whole body or none. */
const keepable = ({ secret = false, isTransient, ...reply }: WorkReply): KeptReply =>
  !secret && Buffer.byteLength(reply.body) <= MAX_KEPT_BYTES ? reply : { ...reply, body: null }

/** Tells whether an error is transient or depends on the current state. */
const passes = ({ retryAfterSeconds, code }: GazewayError): boolean => retryAfterSeconds !== null || !CODES[code].kept
