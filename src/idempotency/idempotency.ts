import { createHash, randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { type ErrorCode, errorBody, GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Attempt, createClaims, type KeptReply, type Reply } from './reply-claims.ts'

export type { Reply } from './reply-claims.ts'

/** How often keys that are over are looked for, in milliseconds. */
const SWEEP_MS = 600_000

/** How long an attempt counts as in flight after the last sign of life of its process, in milliseconds. */
const DEADLINE_MS = 60_000
/** Signs of life within a deadline. */
const RENEWALS = 3
/** The largest reply body that is kept, in bytes of UTF-8. */
const MAX_KEPT_BYTES = 1024 * 1024
/** Visible ASCII and spaces: what a header can carry. */
const KEY = /^[\x20-\x7e]{1,255}$/
/** Refusals that ask to pay, wait or try again and then to send the same request: kept, they would be all it ever got. */
const PASSING = new Set([402, 408, 425, 429, 499])
/** Refusals of requests that may be granted once something else has happened; and the one about the key that `work` keeps itself. */
const OF_THE_MOMENT: ReadonlySet<ErrorCode> = new Set([
  'forbidden',
  'gaze_verification_failed',
  'not_found',
  'conflict',
  'invalid_transition',
  'task_not_completed',
  'recipient_fixed',
  'version_conflict',
  'session_exists',
  'idempotency_key_reused',
])

/** One request under an idempotency key. */
export interface KeyedRequest {
  /** Whose key it is: the caller's id. Callers do not meet each other's keys. */
  scope: string
  /** The `Idempotency-Key` header. */
  key: string
  /** Method and path. */
  route: string
  /** The request's body as it was sent. */
  body: string | Uint8Array
  /** The id that its errors name, also when they are told again. */
  requestId?: string | undefined
  /** What to do where its reply is secret, so that it is not kept, and did not arrive. */
  whereLost?: string | undefined
}

/** What work under an idempotency key returns. */
export interface WorkReply extends Reply {
  /**
   * The reply's body is for the first caller alone and is not kept: a repeated request is refused instead, and told the
   * `location` of what was made.
   */
  secret?: boolean
  /** The reply is a refusal that says when to try again: it is not kept, and the request may be repeated. */
  passing?: boolean
}

/**
 * Keeps what work under an idempotency key returns, in the transaction of its effect and as the last of it: a process that
 * dies leaves both or neither. Work that makes something or moves money, and would do so again, calls it.
 *
 * @throws GazewayError `idempotency_in_flight` when another attempt took over meanwhile, or the transaction is run a second
 *   time although the first was durable; it must then be given up
 */
export type Keep<T> = (trx: Transaction<Schema>, made: T) => Promise<void>

/** Requests that take effect once, however often they arrive. */
export interface Idempotency {
  /**
   * Does `work` and keeps its reply for 24 h; a repeated request gets that reply without the work, on any process that
   * shares the store. A `GazewayError` that `work` throws is a reply too, and comes again as one, with the
   * ids of its request and its call. Replies of 5xx, other errors, and refusals that pass (402, 408, 425, 429, 499, whatever
   * says when to try again, and what `work` throws for how things stand at the moment, such as a task that is not completed)
   * are not kept: the request may then be repeated, so `work` must throw them before anything has come of it. An attempt
   * whose process died is done again 60 s later, unless it had kept its reply; what it had already done without that must
   * bear it (a ledger transfer under the same key does). One that only slept gets the reply of the other that was done.
   *
   * @param work is given what keeps its reply in the transaction of its effect, see {@link Keep}
   *
   * @throws GazewayError `validation_failed` for a key that no header can carry, `idempotency_key_reused` for another
   *   request under the same key, `idempotency_in_flight` while the first is worked on, `idempotency_reply_not_kept` when
   *   it was done but its reply is secret or above 1 MiB; or what `work` throws
   */
  run(
    request: KeyedRequest,
    work: (keep: Keep<WorkReply>) => Promise<WorkReply>,
  ): Promise<{ reply: Reply; replayed: boolean }>
  /** Deletes at most `limit` keys that are older than 24 h; returns how many. Each kept reply does a little of it. */
  sweep(limit: number): Promise<number>
  /** Its chores, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/**
 * @param onError told when the outcome of finished work could not be noted; its caller gets the reply all the same
 * @param deadlineMs how long a dead attempt counts as in flight; 60 s when absent
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

  /** Does the work, saying all the while that its process is alive: a slow upstream must not be paid twice. */
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

  /** @returns what another attempt has answered that took over meanwhile, where it has */
  async function note(attempt: Attempt, reply: WorkReply): Promise<Reply | null> {
    if (reply.status < 500 && !PASSING.has(reply.status) && !reply.passing) return claims.keep(attempt, keepable(reply))
    await claims.release(attempt)
    return null
  }

  async function noteFailure(attempt: Attempt, requestId: string | undefined, error: unknown): Promise<void> {
    if (!(error instanceof GazewayError) || passes(error)) return claims.release(attempt)
    const { status, callId } = error
    await note(attempt, {
      status,
      ...(callId !== undefined && { headers: { 'x-gazeway-call-id': callId } }),
      body: JSON.stringify({ error: errorBody(error, requestId) }),
    })
  }

  return {
    async run({ scope, key, route, body, requestId, whereLost }, work) {
      if (!KEY.test(key))
        throw new GazewayError(
          'validation_failed',
          'idempotency-key: not in the accepted form; accepted: 1 to 255 visible ASCII characters.',
          { param: 'idempotency-key' },
        )
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
      const { secret, passing, ...reply } = made
      return { reply, replayed: false }
    },
    sweep: claims.sweep,
    sweeps: [{ name: 'idempotency.expired', everyMs: SWEEP_MS, batch: claims.sweep }],
  }
}

/** What may be kept of a reply: its body in whole, or not at all. */
const keepable = ({ secret = false, passing, ...reply }: WorkReply): KeptReply =>
  !secret && Buffer.byteLength(reply.body) <= MAX_KEPT_BYTES ? reply : { ...reply, body: null }

/** Whether a refusal says nothing about the request itself: it is over in a while, or once things stand otherwise. */
const passes = ({ retryAfterSeconds, code }: GazewayError): boolean =>
  retryAfterSeconds !== null || OF_THE_MOMENT.has(code)
