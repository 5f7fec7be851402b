import type { Kysely } from 'kysely'
import { reaches } from '../gaze/level.ts'
import type { Check, GazeVerifier } from '../gaze/verification.ts'
import type { GatewayKey } from '../signing/gateway-keys.ts'
import type { Schema } from '../store/schema.ts'
import { isObject } from '../text/json.ts'
import { observedReview } from './observed-review.ts'
import { Change } from './part.ts'
import { changeOf } from './review-record.ts'
import type {} from './statement.ts'
import { ReviewDemand } from './task-review.ts'

/** Beginning of the ids of reviews. A review stands in the place of an attestation by its id. */
const REVIEW_PREFIX = 'rev_'

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
      if (task?.status !== 'completed' || task.review === null) return gaze.check(db, check)
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
  if (!isNamedBy(result, changeOf(row)))
    found.push(
      'The result of the task does not name this change, by its base and head, or by change, its SHA-256, nor has it.',
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

/** Tells whether a task's result names a change: by its commits, by its digest, or by having it with all its parts. */
function isNamedBy(result: string | null, { digest, base, head, parts }: Change): boolean {
  const named: unknown = result === null ? null : JSON.parse(result)
  if (!isObject(named)) return false
  // A change that is not committed has no head: all of them from one base would be the same.
  const isOfCommits = head.commit !== null && named.base === base.commit && named.head === head.commit
  if (named.change === digest || isOfCommits) return true
  const delivered = Change.safeParse(named)
  return (
    delivered.success &&
    delivered.data.digest === digest &&
    delivered.data.parts.length === parts.length &&
    delivered.data.parts.every((part, at) => part.digest === parts[at]?.digest)
  )
}
