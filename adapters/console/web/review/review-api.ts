import type { ErrorBody } from '../../../../src/errors.ts'
import type { GazeTensor } from '../../../../src/gaze/tensor.ts'
import type { DecideReview, ReviewWithParts } from '../../../../src/review/review-record.ts'

/** The token of the page, and what it is for. */
interface Opened {
  token: string
  id: string
  reviewer: string | null
  title: string
}

/** A review that this tab may read and decide. */
export interface OpenReview {
  review: ReviewWithParts
  reviewer: string
  title: string
  sendEvidence(records: readonly GazeTensor[]): Promise<ReviewWithParts['reading']>
  decide(decision: DecideReview): Promise<void>
}

/** Name under which this tab keeps its token, so that a reload goes on. Other sites and ports do not see it. */
const KEPT = 'review'

/**
 * Opens the review with the ticket of the link, which works once, or goes on with this tab's token.
 *
 * @throws Error with what to do
 */
export async function openReview(): Promise<OpenReview> {
  const ticket = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  const kept = sessionStorage.getItem(KEPT)
  const opened: Opened =
    ticket === '' && kept !== null ? JSON.parse(kept) : await ask<Opened>('POST', '/api/open', null, { ticket })
  sessionStorage.setItem(KEPT, JSON.stringify(opened))
  const { token, id, reviewer, title } = opened
  const path = `/api/reviews/${id}`
  return {
    review: await ask('GET', path, token),
    reviewer: reviewer ?? '',
    title,
    sendEvidence: (records) => ask('POST', `${path}/evidence`, token, { records }),
    async decide(decision) {
      await ask('POST', `${path}/decision`, token, decision)
      sessionStorage.removeItem(KEPT)
    },
  }
}

/** The gateway's refusal, with what to do. */
export class Refusal extends Error {}

/** @throws Refusal for an error of the gateway; Error without an answer */
async function ask<Reply>(method: string, path: string, token: string | null, body?: unknown): Promise<Reply> {
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(path, { method, headers, ...content }).catch(() => {
    throw new Error('gazeway review does not answer. It ended, or was stopped.')
  })
  const said = await reply.json()
  if (reply.ok) return said as Reply
  throw new Refusal((said as { error: ErrorBody }).error.message)
}
