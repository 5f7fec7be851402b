import type { Hono } from 'hono'
import * as z from 'zod'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { StoreGaze } from '../../src/gaze/gaze.ts'
import type { ReviewOfOne } from '../../src/remote/remote-reviews.ts'
import { openReceipt, type Receipt } from '../../src/review/receipt.ts'
import { DecideReview } from '../../src/review/review-record.ts'
import { signedBytes } from '../../src/signing/envelope.ts'
import { Assertion, type Passkey, passkeyFault } from '../../src/signing/webauthn.ts'
import type { ConsoleFile } from '../console/files.ts'
import type { Frame } from '../web/frame-context.ts'
import { bodyOf, type ServedPage, servePage } from './serve-page.ts'
import { createTrackerPositions, SentPositions } from './tracker-positions.ts'

/** The review that a page shows. */
export interface ShownReview {
  id: string
  callerId: string
  /** Name that the page proposes for the reviewer. */
  reviewer: string | null
  /** Head and base in words, for the title. */
  title: string
  /** Passkeys that the policy enrolls for this machine. */
  passkeys: readonly Passkey[]
  /** Checks the key of the reviews. @throws GazewayError `invalid_api_key` for one that is not accepted any longer */
  verify(): Promise<void>
}

/** The page of a review. */
export interface ServedReview extends ServedPage {
  /** Resolves with the receipt, once the page has it, with the passkey where one was named. */
  decided: Promise<Receipt>
  /** The receipt, also while its passkey is awaited; null before the decision. */
  receipt(): Receipt | null
}

/** The one request that the token of a tracker opens. */
const SENT = 'POST /api/positions'

/** The answer of the passkey; null to go on without it. */
const Confirmation = z.object({ assertion: Assertion.nullable() })

/**
 * Serves the page of one review, until it is decided or closed. Its requests are those of the platform's API, with the
 * token of the page in place of a key, and `POST /api/reviews/{id}/passkey` for the answer of a passkey over the receipt; with
 * `GET /api/session` it asks whether they are still accepted. The program of an eye tracker sends positions to `POST
 * /api/positions`, with a token that the page gets and shows.
 */
export async function serveReview(
  reviews: ReviewOfOne,
  { callerId, passkeys, verify, ...shown }: ShownReview,
  files: ReadonlyMap<string, ConsoleFile>,
  log: Log,
): Promise<ServedReview> {
  let receipt: Receipt | null = null
  let onDecided: (receipt: Receipt) => void = () => {}
  const decided = new Promise<Receipt>((resolve) => {
    onDecided = resolve
  })
  const path = `/api/reviews/${shown.id}`
  const named = passkeys.map(({ reviewer, credential_id }) => ({ reviewer, credential_id }))
  const tracker = createTrackerPositions()
  const isOfTracker = (request: string, token: string) => request === SENT && tracker.isToken(token)
  const addRoutes = (app: Hono<Frame>) => {
    app.post('/api/tracker', (c) => c.json(tracker.open()))
    app.delete('/api/tracker', (c) => {
      tracker.close()
      return c.body(null, 204)
    })
    app.post('/api/positions', async (c) => {
      tracker.add(await bodyOf(c, SentPositions), Date.now())
      return c.body(null, 204)
    })
    app.get('/api/positions', (c) => c.json(tracker.since(Number(c.req.query('after') ?? 0))))
    app.get('/api/session', async (c) => {
      await verify()
      return c.body(null, 204)
    })
    app.get(path, async (c) => c.json(await reviews.get(shown.id, callerId)))
    app.post(`${path}/evidence`, async (c) => {
      const { records } = await bodyOf(c, StoreGaze.pick({ records: true }))
      return c.json(await reviews.addEvidence(shown.id, records, callerId))
    })
    app.post(`${path}/decision`, async (c) => {
      const decision = await bodyOf(c, DecideReview)
      const made = await reviews.decide(shown.id, decision, callerId)
      receipt = made
      if (decision.credential_id === undefined) c.env.outgoing.once('close', () => onDecided(made))
      return c.json(made)
    })
    app.post(`${path}/passkey`, async (c) => {
      const { assertion } = await bodyOf(c, Confirmation)
      if (receipt === null)
        throw new GazewayError('invalid_transition', 'Decide first: the passkey confirms a receipt.')
      if (assertion !== null) receipt = confirmed(receipt, assertion, passkeys)
      const last = receipt
      c.env.outgoing.once('close', () => onDecided(last))
      return c.json(last)
    })
  }
  const page = await servePage({ files, log, opened: { ...shown, passkeys: named } }, addRoutes, isOfTracker)
  return { ...page, decided, receipt: () => receipt }
}

/** Puts the answer of an enrolled passkey beside a receipt. @throws GazewayError `validation_failed` naming its fault */
function confirmed(receipt: Receipt, assertion: Assertion, passkeys: readonly Passkey[]): Receipt {
  const { payload, review } = openReceipt(receipt, 'receipt')
  const enrolled = passkeys.find(
    ({ reviewer, credential_id }) => reviewer === review.reviewer.id && credential_id === assertion.credential_id,
  )
  const fault = enrolled
    ? passkeyFault(assertion, enrolled, signedBytes(payload))
    : 'the policy enrolls no such passkey for the reviewer'
  if (fault === null) return { ...receipt, webauthn: assertion }
  throw new GazewayError('validation_failed', `This passkey does not count: ${fault}.`, { param: 'assertion' })
}
