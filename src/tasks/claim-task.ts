import { createHash, randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { GazeLevel } from '../config/sections/gaze-section.ts'
import { GazewayError } from '../errors.ts'
import { type Attention, requireAttention, verifyAttention } from '../escrow/attention-gate.ts'
import type { Caller } from '../escrow/escrow.ts'
import { createTally } from '../escrow/escrow-tally.ts'
import { taskStatusAt } from '../escrow/task-status.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import type { Leases } from './lease.ts'
import { markCapabilities } from './mark-capabilities.ts'
import { type Claim, type Heartbeat, type Task, toTask } from './task-record.ts'
import { foundTask, notTheClaimant, outOfOrder } from './task-refusals.ts'

const TOKEN_BYTES = 32

/** A claimed task with its token, as its claimant sees it. */
export type ClaimedTask = Task & { claim_token: string }

/** Claims of tasks and their heartbeats. */
export interface Claims {
  /**
   * Claims an open task. One of several concurrent claims wins.
   *
   * @param keep called with the claimed task in the same transaction
   * @returns the task with its `claim_token`, which is shown once
   * @throws GazewayError `not_found`, `invalid_transition` with the current status, or `gaze_verification_failed`
   */
  claim(id: string, input: Claim, caller: Caller, keep?: Keep<ClaimedTask>): Promise<ClaimedTask>
  /**
   * Extends the lease of a live claim by its original length. Only for the claiming key and admins, with the claim's
   * token; or with the agent's name if the token was lost.
   *
   * @throws GazewayError `not_found`, `forbidden` for anyone but the claimant, or `invalid_transition`
   */
  heartbeat(id: string, input: Heartbeat, caller: Caller): Promise<Task>
}

/** Hashes a claim's token. A plain hash is enough, because the token has 256 random bits. */
export const hashClaim = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Creates the claims of the tasks in `store`. */
export function createClaims({
  store,
  now,
  verifier,
  leases,
}: {
  store: Store
  now: () => Date
  verifier: GazeVerifier
  leases: Leases
}): Claims {
  return {
    async claim(id, input, caller, keep) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const at = now()
      const claim = {
        agent: input.agent,
        claimed_by: caller.id,
        claim_hash: hashClaim(token),
        lease_seconds: input.lease_seconds,
        lease_expires_at: later(at, input.lease_seconds),
        claimed_at: at.toISOString(),
        updated_at: at.toISOString(),
      }
      const attempt = (attention: Attention | null) =>
        store.write(async (trx) => {
          const row = await take(trx, { id, claim, attention, verifier })
          if (typeof row === 'string') return row
          const claimed = { ...toTask(row, claim.updated_at), claim_token: token }
          await keep?.(trx, claimed)
          return claimed
        })
      let claimed = await attempt(null)
      if (claimed === 'lapsed') {
        await leases.reopen(id, claim.updated_at)
        claimed = await attempt(null)
      }
      if (claimed === 'unseen')
        claimed = await attempt(
          await look({ store, verifier }, { id, attestationId: input.attestation_id, caller, at }),
        )
      if (typeof claimed === 'string') throw outOfOrder(await read(store.db, id), 'claim', 'claimed', claim.updated_at)
      return claimed
    },

    async heartbeat(id, { claim_token, agent }, caller) {
      const at = now()
      const before = await read(store.db, id)
      const isClaimant = before.claimed_by === caller.id || caller.scopes.has('admin')
      // Without a token, the claim that was read before: the same agent may have claimed the task again since.
      const hash = claim_token === undefined ? before.claim_hash : hashClaim(claim_token)
      const row =
        isClaimant &&
        (await store.db
          .updateTable('tasks')
          .set({ lease_expires_at: latest(later(at, before.lease_seconds ?? 0)), updated_at: at.toISOString() })
          .where('id', '=', id)
          .where('status', '=', 'claimed')
          .where('lease_expires_at', '>', at.toISOString())
          .where('claim_hash', '=', hash)
          .$if(agent !== undefined, (live) => live.where('agent', '=', agent ?? ''))
          .returningAll()
          .executeTakeFirst())
      if (row) return toTask(row, at.toISOString())
      const present = await read(store.db, id)
      if (taskStatusAt(present, at.toISOString()) === 'claimed') throw notTheClaimant(present)
      throw outOfOrder(present, 'complete', 'kept alive', at.toISOString())
    },
  }
}

type ClaimColumns = Pick<
  TaskRow,
  'agent' | 'claimed_by' | 'claim_hash' | 'lease_seconds' | 'lease_expires_at' | 'claimed_at' | 'updated_at'
>

interface Taking {
  id: string
  claim: ClaimColumns
  /** Null until the attestation is verified. */
  attention: Attention | null
  verifier: GazeVerifier
}

/**
 * Claims the task in one statement, so that one claimant wins.
 *
 * @returns the claimed row; `lapsed` when the lease of another claim has expired; `unseen` when an attestation must be
 *   verified first
 * @throws GazewayError with the reason when the task cannot be claimed
 */
async function take(
  trx: Transaction<Schema>,
  { id, claim, attention, verifier }: Taking,
): Promise<TaskRow | 'lapsed' | 'unseen'> {
  const row = await claimOpen(trx, id, claim, attention === null ? 0 : 1)
  if (row === undefined) return refuse(await read(trx, id), claim.updated_at)
  if (attention !== null)
    await requireAttention(trx, verifier, attention, { usedBy: `claim ${id}`, at: claim.updated_at })
  await markCapabilities(trx, [row])
  const tally = createTally()
  tally.move('open', 'claimed')
  await tally.write(trx)
  return row
}

/** Claims an open task whose reward has not expired. */
async function claimOpen(
  trx: Transaction<Schema>,
  id: string,
  claim: ClaimColumns,
  gazeRequired: 0 | 1,
): Promise<TaskRow | undefined> {
  const { updated_at: at } = claim
  const { rows } = await runBuilt<TaskRow>(
    trx,
    'claim',
    ['claimed', ...Object.values(claim), id, at, gazeRequired],
    () =>
      trx
        .updateTable('tasks')
        .set({ status: 'claimed', ...claim })
        .where('id', '=', id)
        .where(sql<boolean>`status = 'open'`)
        .where((eb) => eb.or([eb('reward_expires_at', 'is', null), eb('reward_expires_at', '>', at)]))
        .where('gaze_required', '=', gazeRequired)
        .returningAll()
        .compile(),
  )
  return rows[0]
}

/** Explains why a task could not be claimed. @throws GazewayError `invalid_transition` */
function refuse(row: TaskRow, at: string): 'lapsed' | 'unseen' {
  if (row.status === 'claimed' && taskStatusAt(row, at) === 'open') return 'lapsed'
  if (row.status !== 'open') throw outOfOrder(row, 'claim', 'claimed', at)
  if (row.reward_expires_at !== null && row.reward_expires_at <= at)
    throw new GazewayError(
      'invalid_transition',
      `Task ${row.id} cannot be claimed: its reward expired at ${row.reward_expires_at}. Claim another task.`,
    )
  // It opened again meanwhile, because an earlier claim ended.
  return row.gaze_required === 1 ? 'unseen' : 'lapsed'
}

/** @throws GazewayError `gaze_verification_failed` without an attestation */
async function look(
  { store, verifier }: { store: Store; verifier: GazeVerifier },
  of: { id: string; attestationId: string | undefined; caller: Caller; at: Date },
): Promise<Attention> {
  const { id: taskId, attestationId, caller, at } = of
  const { created_at: from, gaze_level } = await read(store.db, taskId)
  const level = gaze_level as GazeLevel | null
  const description = `records that the claiming key stored since the task was created, at ${from}`
  const evidence = [{ description, callerId: caller.id, from, until: null }]
  if (attestationId !== undefined)
    return verifyAttention(store, verifier, { attestationId, taskId, evidence, level, at: at.toISOString() })
  throw new GazewayError(
    'gaze_verification_failed',
    'This task needs gaze verification: send the attestation_id of an attestation bound to it.',
    { param: 'attestation_id' },
  )
}

const read = async (db: Kysely<Schema>, id: string): Promise<TaskRow> =>
  foundTask(await db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst())

/** The later of `time` and the current lease, because a delayed heartbeat may arrive after a newer one. */
const latest = (time: string) =>
  sql<string>`case when lease_expires_at > ${time} then lease_expires_at else ${time} end`

const later = (at: Date, seconds: number): string => new Date(at.getTime() + seconds * 1000).toISOString()
