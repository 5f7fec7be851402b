import type { ErrorBody } from '../../../../src/errors.ts'
import type { GazeTensor } from '../../../../src/gaze/tensor.ts'
import type { Receipt } from '../../../../src/review/receipt.ts'
import type { DecideReview, ReviewWithParts } from '../../../../src/review/review-record.ts'
import type { Level } from '../../../../src/review/statement.ts'
import type { Assertion, Passkey } from '../../../../src/signing/webauthn.ts'
import type { Tracker } from './tracker.ts'

/** The token of the page, and what it is for: a review, or without an id the making of a passkey. */
type Opened = { token: string; reviewer: string | null } & (
  | { id: string; title: string; passkeys: OpenReview['passkeys'] }
  | { id: null }
)

/** The making of a passkey. */
export interface OpenEnrolment {
  reviewer: string
  enrol(passkey: Pick<Passkey, 'reviewer' | 'credential_id' | 'public_key'>): Promise<void>
}

/** A review of `gazeway review`, whose token or remote key may end. */
export interface CommandReview extends OpenReview {
  /** @throws Refusal with the status 401 for a token or key that is not accepted; Error without an answer */
  verify(): Promise<void>
}

/** Consequence of an approval, and what it takes. */
export interface Approval {
  /** Label of the button: `Approve and pay $5.00`. */
  label: string
  note: string
  /** Least share of the lines. */
  coverage: number
  level: Level
}

/** A review that this tab may read and decide. */
export interface OpenReview {
  review: ReviewWithParts
  reviewer: string
  title: string
  /** Passkeys that the policy enrolls. */
  passkeys: readonly Pick<Passkey, 'reviewer' | 'credential_id'>[]
  /** Consequence of an approval; null for none beside the receipt. */
  approval: Approval | null
  /** Positions of an eye tracker; null where the page is sent none. */
  tracker: Tracker | null
  sendEvidence(records: readonly GazeTensor[]): Promise<ReviewWithParts['reading']>
  decide(decision: DecideReview): Promise<Receipt>
  /** Puts the answer of a passkey beside the receipt; null to go on without it. */
  confirm(assertion: Assertion | null): Promise<void>
}

/** Name under which this tab keeps its token, so that a reload goes on. Other sites and ports do not see it. */
const KEPT = 'review'

/**
 * Opens the page with the ticket of the link, which works once, or goes on with this tab's token.
 *
 * @throws Error with what to do
 */
export async function openPage(): Promise<CommandReview | OpenEnrolment> {
  const ticket = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  const kept = sessionStorage.getItem(KEPT)
  const opened: Opened =
    ticket === '' && kept !== null ? JSON.parse(kept) : await ask<Opened>('POST', '/api/open', null, { ticket })
  sessionStorage.setItem(KEPT, JSON.stringify(opened))
  return opened.id === null
    ? {
        reviewer: opened.reviewer ?? '',
        enrol: (passkey) => ask('POST', '/api/passkeys', opened.token, passkey),
      }
    : openReview(opened)
}

async function openReview(opened: Exclude<Opened, { id: null }>): Promise<CommandReview> {
  const { token, reviewer, title, passkeys } = opened
  const path = `/api/reviews/${opened.id}`
  return {
    review: await ask('GET', path, token),
    reviewer: reviewer ?? '',
    title,
    passkeys,
    approval: null,
    tracker: {
      open: () => ask('POST', '/api/tracker', token),
      close: () => ask('DELETE', '/api/tracker', token),
      positions: (after) => ask('GET', `/api/positions?after=${after}`, token),
    },
    sendEvidence: (records) => ask('POST', `${path}/evidence`, token, { records }),
    async decide(decision) {
      const receipt = await ask<Receipt>('POST', `${path}/decision`, token, decision)
      forgetToken()
      return receipt
    },
    verify: () => ask('GET', '/api/session', token),
    confirm: (assertion) => ask('POST', `${path}/passkey`, token, { assertion }),
  }
}

/** The gateway's refusal, with what to do. */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Forgets the token of this tab. */
export const forgetToken = (): void => sessionStorage.removeItem(KEPT)

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
  const said = reply.status === 204 ? undefined : await reply.json()
  if (reply.ok) return said as Reply
  throw new Refusal(reply.status, (said as { error: ErrorBody }).error.message)
}
