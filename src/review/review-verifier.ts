import type { Kysely } from 'kysely'
import type { Base } from '../base.ts'
import { reaches } from '../gaze/evidence-level.ts'
import type { Check, GazeVerifier } from '../gaze/verification.ts'
import { type GatewayKey, gatewayKeys } from '../signing/gateway-keys.ts'
import type { Schema } from '../store/schema.ts'
import { isNamedBy } from './named-change.ts'
import { observedReview } from './observed-review.ts'
import { changeOf } from './review-record.ts'
import { ReviewDemand, storedTerms } from './task-review.ts'

/** Beginning of the ids of reviews. A review stands in the place of an attestation by its id. */
const REVIEW_PREFIX = 'rev_'

/** Opens the verifier: it follows `gaze.max_age_seconds` and the keys of the data folder. */
export const liveReviewVerifier = ({ config, now }: Base, gaze: GazeVerifier): GazeVerifier =>
  createReviewVerifier(gaze, {
    maxAgeSeconds: () => config.current().config.gaze.max_age_seconds,
    keys: () => gatewayKeys(config.current().dataDir, now()),
  })

/**
 * Verifies the attention that a task needs. A completed task with `review` takes a decided review of its result's change
 * instead of an attestation, bound in the same way: to the task, of the right key, after the right moment, not too old, and
 * used once.
 *
 * @param gaze verifies attestations
 * @param terms.maxAgeSeconds greatest age of a review, read at each check
 * @param terms.keys keys of this gateway, from its data folder: a review counts as one of them signed it
 */
export function createReviewVerifier(
  gaze: GazeVerifier,
  { maxAgeSeconds, keys }: { maxAgeSeconds: () => number; keys: () => Promise<readonly GatewayKey[]> },
): GazeVerifier {
  return {
    async check(db, check) {
      const task = await db
        .selectFrom('tasks')
        .select(['status', 'review', 'result'])
        .where('id', '=', check.taskId)
        .executeTakeFirst()
      if (task?.status !== 'completed') return gaze.check(db, check)
      if ((await lockedTerms(db, check.taskId)) !== storedTerms(task.review)) return [OTHER_TERMS]
      if (task.review === null) return gaze.check(db, check)
      const demand = ReviewDemand.parse(JSON.parse(task.review))
      const terms = { demand, result: task.result, maxAgeSeconds: maxAgeSeconds(), keys: await keys() }
      return shortcomings(db, check, terms)
    },

    async use(trx, of) {
      if (!of.attestationId.startsWith(REVIEW_PREFIX)) return gaze.use(trx, of)
      const { attestationId, usedBy, at } = of
      const row = { attestation_id: attestationId, session_id: null, records: null, used_by: usedBy, used_at: at }
      const used = await trx
        .insertInto('attestation_uses')
        .values(row)
        .onConflict((conflict) => conflict.column('attestation_id').doNothing())
        .returning('attestation_id')
        .execute()
      return used.length === 1
    },
  }
}

const OTHER_TERMS =
  'The review that this task needs is not the one that its reward was locked under, which the ledger keeps. Refund the escrow ' +
  'once it expires, and lock the reward again.'

/** Reads the terms under which the reward of a task is locked: a memo of the ledger, whose chain of hashes covers it. */
async function lockedTerms(db: Kysely<Schema>, taskId: string): Promise<string | null> {
  const escrow = await db
    .selectFrom('escrows')
    .select('id')
    .where('task_id', '=', taskId)
    .where('status', '<>', 'refunded')
    .executeTakeFirst()
  if (escrow === undefined) return null
  const key = `escrow:${escrow.id}:lock`
  const transfer = await db.selectFrom('ledger_transfers').select('memo').where('key', '=', key).executeTakeFirst()
  return transfer?.memo ?? null
}

/** Explains why a review does not release the reward of a task; empty when it does. */
async function shortcomings(
  db: Kysely<Schema>,
  { attestationId, taskId, evidence, at }: Check,
  {
    demand,
    result,
    maxAgeSeconds,
    keys,
  }: { demand: ReviewDemand; result: string | null; maxAgeSeconds: number; keys: readonly GatewayKey[] },
): Promise<string[]> {
  const row = await db.selectFrom('reviews').selectAll().where('id', '=', attestationId).executeTakeFirst()
  if (row === undefined)
    return ['This task takes a review of its result: send the id of one (rev_…) as attestation_id.']
  if (row.decided_at === null || row.receipt === null) return ['The review is not decided.']
  if (row.task_id !== taskId) return ['The review is not bound to this task.']
  const review = observedReview(row, keys)
  if (review === null)
    return [
      'The review in the store is not what a key of this gateway signed (signing-key.json in its data folder). Review the ' +
        'result again, through this gateway.',
    ]
  const { coverage, decision, level } = review
  const found: string[] = []
  if (decision !== 'approve') found.push(`The review ended with ${decision}, not with approve.`)
  if (!isNamedBy(result === null ? null : JSON.parse(result), changeOf(row)))
    found.push(
      'The result of the task does not name this change: its SHA-256, and its commits and parts where the result has some.',
    )
  const share = coverage.lines === 0 ? 0 : coverage.seen / coverage.lines
  if (share < demand.coverage)
    found.push(`It covers ${coverage.seen} of ${coverage.lines} lines; a share of ${demand.coverage} is needed.`)
  if (!reaches(level, demand.level)) found.push(`Its level is ${level}; ${demand.level} is needed.`)
  const age = (Date.parse(at) - Date.parse(row.decided_at)) / 1000
  if (age > maxAgeSeconds) found.push(`The review is ${Math.ceil(age)} s old; at most ${maxAgeSeconds} s are allowed.`)
  // The claimant's own look at its work is no review: it reads before the completion.
  const isOfItsTime = evidence.some(
    ({ callerId, from, until }) => callerId === row.caller_id && row.created_at >= from && until === null,
  )
  if (!isOfItsTime) found.push('Only a review that the payer began after the completion counts.')
  const used = await db
    .selectFrom('attestation_uses')
    .select('used_by')
    .where('attestation_id', '=', row.id)
    .executeTakeFirst()
  if (used !== undefined) found.push('The review was used before. Review the result again.')
  return found
}
