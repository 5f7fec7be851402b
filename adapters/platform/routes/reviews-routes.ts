import { resolve } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { StoreGaze } from '../../../src/gaze/gaze.ts'
import { Change } from '../../../src/review/change-parts.ts'
import { type Policy, PolicyFile, readPolicy } from '../../../src/review/policy.ts'
import { readPolicyFile } from '../../../src/review/policy-source.ts'
import { openReceipt, Receipt } from '../../../src/review/receipt.ts'
import { DecideReview, NewReview, ReviewId, ReviewRecord, ReviewWithParts } from '../../../src/review/review-record.ts'
import { judgeChange, Verdict } from '../../../src/review/verify.ts'
import { GatewayKey, gatewayKeys } from '../../../src/signing/gateway-keys.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const ById = z.object({ id: ReviewId })

/** Short: each receipt is compared with each line. */
const SignersFile = z.string().max(65_536).default('')

const VerifyReviews = z.object({
  receipts: z.array(Receipt).max(100),
  change: Change.pick({ digest: true, parts: true }).describe('what lands, from a client with the repository'),
  authors: z.array(z.string()).default([]).describe('addresses of those who wrote it'),
  policy: PolicyFile.optional().describe('by default that of the setting review.policy'),
  allowed_signers: SignersFile.describe('content of the file that the policy names'),
  revoked_keys: SignersFile.describe('content of the file that the policy names'),
})

/** Opens the policy of the settings. @throws GazewayError `validation_failed` without one */
async function ownPolicy({ loaded: { config, dataDir } }: Gateway): Promise<Policy> {
  const file = resolve(dataDir, config.review.policy)
  return readPolicyFile(file, 'review.policy').catch((cause) => {
    if (!(cause instanceof GazewayError) || cause.code !== 'not_found') throw cause
    const message = 'This gateway has no review policy: send one, or name its file in the setting review.policy.'
    throw new GazewayError('validation_failed', message, { param: 'policy', cause })
  })
}

/** Routes of reviews: changes that people read, and the receipts of it. */
export const reviewRoutes = (gateway: Gateway): Route[] => [
  defineRoute('POST /api/reviews', {
    operation: 'createReview',
    summary: 'Begin a review of a change',
    description:
      'Takes the canonical change, from a client with the repository. Digests that are not those of the lines are ' +
      'refused, so that what is shown is what is signed.',
    access: 'platform',
    body: NewReview,
    reply: ReviewRecord,
    status: 201,
    idempotent: true,
    run: ({ body, c }) => gateway.reviews.create(body, callerOf(c).id),
  }),
  defineRoute('GET /api/reviews', {
    operation: 'listReviews',
    summary: 'List reviews, newest first',
    description: 'A key sees the reviews that it began. An admin sees all.',
    access: 'platform',
    query: ListQuery.strict(),
    reply: pageOf(ReviewRecord),
    run: ({ query, c }) => listReply(query, (part) => gateway.reviews.list(part, shownTo(callerOf(c), undefined))),
  }),
  defineRoute('GET /api/reviews/{id}', {
    operation: 'getReview',
    summary: 'Read a review with its lines, and how far they were read',
    access: 'platform',
    params: ById,
    reply: ReviewWithParts,
    run: ({ params, c }) => gateway.reviews.get(params.id, shownTo(callerOf(c), undefined)),
  }),
  defineRoute('POST /api/reviews/{id}/evidence', {
    operation: 'addReviewEvidence',
    summary: 'Add records of attention to a review',
    description:
      'Takes at most 1,000 gaze records with path and lines of the new file, from the key that began the review, before ' +
      'the decision. Replies with how far each hunk was read. Views at one moment need times 1 ms apart.',
    access: 'platform',
    params: ById,
    body: StoreGaze.pick({ records: true }),
    reply: ReviewWithParts.shape.reading,
    idempotent: true,
    run: ({ params, body, c }) => gateway.reviews.addEvidence(params.id, body.records, callerOf(c).id),
  }),
  defineRoute('POST /api/reviews/{id}/decision', {
    operation: 'decideReview',
    summary: 'Decide a review, and get its receipt',
    description:
      'The receipt is countersigned by this gateway, and lacks the signature of its reviewer: add it to the envelope, or ' +
      'put an SSH signature or the answer of a passkey beside it.',
    access: 'platform',
    params: ById,
    body: DecideReview,
    reply: Receipt,
    idempotent: true,
    run: ({ params, body, c }) => gateway.reviews.decide(params.id, body, callerOf(c).id),
  }),
  ...verificationRoutes(gateway),
]

/** Routes that judge receipts, and give the keys to check them with. */
const verificationRoutes = (gateway: Gateway): Route[] => [
  defineRoute('POST /api/reviews/verify', {
    operation: 'verifyReviewReceipt',
    summary: 'Judge a change by receipts and a policy',
    access: 'platform',
    body: VerifyReviews,
    reply: Verdict,
    async run({ body }) {
      const { receipts, change, authors, allowed_signers: signers, revoked_keys: revoked } = body
      const sent = body.policy
      const beside = async (name: string) => (name === sent?.allowed_signers ? signers : revoked)
      const policy =
        sent === undefined ? await ownPolicy(gateway) : await readPolicy(JSON.stringify(sent), 'policy', beside)
      const known = new Set(authors.map((author) => author.toLowerCase()))
      const opened = receipts.map((receipt, index) => openReceipt(receipt, `receipts.${index}`))
      return judgeChange(change, known, opened, policy, new Date())
    },
  }),
  defineRoute('GET /.well-known/gazeway-keys', {
    operation: 'listSigningKeys',
    summary: 'List the keys that this gateway signs with, newest first',
    description: 'The first is in use. Signatures of a rotated key hold for what it signed until its end.',
    access: 'open',
    reply: z.object({ keys: z.array(GatewayKey) }),
    run: async () => ({ keys: await gatewayKeys(gateway.loaded.dataDir, new Date()) }),
  }),
]
