import { createHash, randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { requireAttention } from '../escrow/attention-gate.ts'
import type { Caller } from '../escrow/escrows.ts'
import { createTally } from '../escrow/tally.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { TaskRow } from '../store/tables/tasks.ts'
import type { Leases } from './lease.ts'
import { markCapabilities } from './mark-capabilities.ts'
import { type Claim, type Heartbeat, type Task, taskStatusAt, toTask } from './record.ts'
import { foundTask, notTheClaimant, outOfOrder } from './refusals.ts'

const TOKEN_BYTES = 32

/** Claims of tasks, and their signs of life. */
export interface Claims {
  /**
   * Claims an open task: of several at once, one does.
   *
   * @returns the task with its `claim_token`, which is shown now and never again
   * @throws GazewayError `not_found`, `invalid_transition` naming the present status, or `gaze_verification_failed`
   */
  claim(id: string, input: Claim, caller: Caller): Promise<Task & { claim_token: string }>
  /**
   * Extends the lease of a live claim by as many seconds as it was claimed for.
   *
   * @throws GazewayError `not_found`, `forbidden` for anyone but the claimant, or `invalid_transition`
   */
  heartbeat(id: string, input: Heartbeat, caller: Caller): Promise<Task>
}

/** What is kept of a claim's token: it has 256 random bits, so that a plain hash is enough. */
export const hashClaim = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The claims of the tasks in `store`. */
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
    async claim(id, input, caller) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const at = now()
      const claim = {
        agent: input.agent,
        claimed_by: caller.id,
        claim_hash: hashClaim(token),
        lease_seconds: input.lease_seconds,
        lease_expires_at: later(at, input.lease_seconds),
        updated_at: at.toISOString(),
      }
      const attempt = () => store.write((trx) => take(trx, id, claim, verifier, input.attestation_id))
      let row = await attempt()
      if (row === 'lapsed') {
        await leases.reopen(id, claim.updated_at)
        row = await attempt()
      }
      if (row === 'lapsed') throw outOfOrder(await read(store.db, id), 'claim', 'claimed', claim.updated_at)
      return { ...toTask(row, claim.updated_at), claim_token: token }
    },

    async heartbeat(id, { claim_token }, caller) {
      const at = now()
      const before = await read(store.db, id)
      const isClaimant = before.claimed_by === caller.id || caller.scopes.has('admin')
      const row =
        isClaimant &&
        (await store.db
          .updateTable('tasks')
          .set({ lease_expires_at: later(at, before.lease_seconds ?? 0), updated_at: at.toISOString() })
          .where('id', '=', id)
          .where('status', '=', 'claimed')
          .where('lease_expires_at', '>', at.toISOString())
          .where('claim_hash', '=', hashClaim(claim_token))
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
  'agent' | 'claimed_by' | 'claim_hash' | 'lease_seconds' | 'lease_expires_at' | 'updated_at'
>

/**
 * One statement claims the task where nothing else is asked; else its row says why not.
 *
 * @returns `lapsed` for a claim whose lease is over
 */
async function take(
  trx: Transaction<Schema>,
  id: string,
  claim: ClaimColumns,
  verifier: GazeVerifier,
  attestationId: string | undefined,
): Promise<TaskRow | 'lapsed'> {
  const row = (await claimOpen(trx, id, claim)) ?? (await claimWithAttention(trx, id, claim, verifier, attestationId))
  if (row === 'lapsed') return row
  await markCapabilities(trx, [row], 'claimed')
  const tally = createTally()
  tally.move('open', 'claimed')
  await tally.write(trx)
  return row
}

async function claimOpen(trx: Transaction<Schema>, id: string, claim: ClaimColumns): Promise<TaskRow | undefined> {
  const { rows } = await runBuilt<TaskRow>(
    trx,
    'claim',
    ['claimed', ...Object.values(claim), id, claim.updated_at],
    () => claiming(trx, id, claim).where(sql<boolean>`gaze_required = 0`).compile(),
  )
  return rows[0]
}

/** The statement that one claimant wins; a task whose reward has expired would be done for nothing. */
function claiming(db: Kysely<Schema>, id: string, claim: ClaimColumns) {
  return db
    .updateTable('tasks')
    .set({ status: 'claimed', ...claim })
    .where('id', '=', id)
    .where(sql<boolean>`status = 'open'`)
    .where((eb) => eb.or([eb('reward_expires_at', 'is', null), eb('reward_expires_at', '>', claim.updated_at)]))
    .returningAll()
}

async function claimWithAttention(
  trx: Transaction<Schema>,
  id: string,
  claim: ClaimColumns,
  verifier: GazeVerifier,
  attestationId: string | undefined,
): Promise<TaskRow | 'lapsed'> {
  const at = claim.updated_at
  const row = foundTask(await trx.selectFrom('tasks').selectAll().where('id', '=', id).forUpdate().executeTakeFirst())
  if (row.status === 'claimed' && taskStatusAt(row, at) === 'open') return 'lapsed'
  if (row.status !== 'open') throw outOfOrder(row, 'claim', 'claimed', at)
  if (row.reward_expires_at !== null && row.reward_expires_at <= at)
    throw new GazewayError(
      'invalid_transition',
      `Task ${id} is open, but its reward expired at ${row.reward_expires_at}: nobody can claim it any more.`,
    )
  if (attestationId === undefined && row.gaze_required === 1)
    throw new GazewayError(
      'gaze_verification_failed',
      'This task needs gaze verification: send attestation_id, an attestation that is bound to it.',
      { param: 'attestation_id' },
    )
  if (attestationId !== undefined && row.gaze_required === 1)
    await requireAttention(trx, verifier, { attestationId, taskId: id, usedBy: `claim ${id}`, at })
  return claiming(trx, id, claim).executeTakeFirstOrThrow()
}

const read = async (db: Kysely<Schema>, id: string): Promise<TaskRow> =>
  foundTask(await db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst())

const later = (at: Date, seconds: number): string => new Date(at.getTime() + seconds * 1000).toISOString()
