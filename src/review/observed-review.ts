import { GazewayError } from '../errors.ts'
import type { GatewayKey } from '../signing/gateway-keys.ts'
import { sshKey } from '../signing/ssh-key.ts'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { countersignatureOf } from './countersignature.ts'
import { type OpenedReceipt, openReceipt } from './receipt.ts'
import { changeOf } from './review-record.ts'
import type { Observation, Review } from './statement.ts'

/**
 * Reads a decided review as this gateway signed it. All that a release depends on is compared with the signed bytes: the
 * row is not trusted, because it can be edited.
 *
 * @param keys of this gateway, from its data folder
 * @returns null for a row that says something else than what one of the keys signed
 */
export function observedReview(row: ReviewRow, keys: readonly GatewayKey[]): Review | null {
  const receipt = opened(row)
  const found = receipt === null ? null : countersignatureOf(receipt)
  if (receipt === null || found === null) return null
  const { observation } = found
  const isOurs = keys
    .filter((key) => wasInUse(key, observation.observed_at))
    .some(({ public_key }) => found.isBy(sshKey(Buffer.from(public_key.split(' ')[1] ?? '', 'base64'))))
  return isOurs && agrees(row, receipt, observation) ? receipt.review : null
}

/** A receipt that was damaged in the store is none. */
function opened({ receipt, id }: ReviewRow): OpenedReceipt | null {
  if (receipt === null) return null
  try {
    return openReceipt(JSON.parse(receipt), id)
  } catch (error) {
    if (error instanceof GazewayError && error.code === 'validation_failed') return null
    throw error
  }
}

const wasInUse = ({ valid_from, valid_until }: GatewayKey, at: string): boolean =>
  valid_from <= at && (valid_until === null || at <= valid_until)

function agrees(row: ReviewRow, { review, subjects }: OpenedReceipt, observation: Observation): boolean {
  const { base, head, digest } = changeOf(row)
  const pairs = [
    [observation.review_id, row.id],
    [observation.level, review.level],
    [observation.observed_at, row.decided_at],
    [observation.task?.id, row.task_id],
    [observation.task?.reader, row.caller_id],
    [review.times.started_at, row.created_at],
    [review.base.commit, base.commit],
    [subjects.gitCommit ?? null, head.commit],
    [subjects.sha256, digest],
  ]
  return pairs.every(([one, other]) => one === other)
}
