import { createHash } from 'node:crypto'
import * as z from 'zod'
import { AttentionEvidence } from '../gaze/attention-evidence.ts'
import { LEVELS } from '../gaze/evidence-level.ts'
import { type Envelope, PAYLOAD_TYPE, signedBytes } from '../signing/envelope.ts'
import type { Signer } from '../signing/signer.ts'
import { type Change, Side } from './change-parts.ts'
import { FILE_KINDS } from './file-kind.ts'

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** Type of the predicate of receipts. */
const RECEIPT_TYPE = 'https://github.com/gazeway/gazeway/attestations/review/v1'
/** Type of the predicate of countersignatures. */
const OBSERVATION_TYPE = 'https://github.com/gazeway/gazeway/attestations/review-observation/v1'

/** Level of evidence of a review. */
export const Level = z.enum(LEVELS)
export type Level = z.infer<typeof Level>

const count = z.int().min(0)
/** A SHA-256 in hex. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Reading of one hunk or item. */
export const PartCoverage = z.object({
  digest: Sha256.describe('digest of the hunk or the item'),
  path: z.string(),
  lines: count.describe('changed lines; an item counts as one'),
  seen: count.describe('changed lines with enough visible time, or 1 for an item that was acknowledged'),
  seen_ms: z.number().min(0).describe('visible time of its lines, in ms'),
})
export type PartCoverage = z.infer<typeof PartCoverage>

const Coverage = z.object({
  lines: count,
  seen: count,
  by_file: z.array(z.object({ path: z.string(), lines: count, seen: count, kind: z.enum(FILE_KINDS).optional() })),
  hunks: z.array(PartCoverage),
})

/** Evidence of a review: its coverage is of lines. */
const ReviewEvidence = AttentionEvidence.extend({
  coverage: AttentionEvidence.shape.coverage.describe('share of the changed lines that was seen'),
})

/** Decision about a change. */
export const Decision = z.enum(['approve', 'request_changes', 'comment'])

/** A remark about a line, or about all of a change. */
export const Comment = z.object({
  path: z.string().max(4096).nullable().describe('null for one about all of the change'),
  line: z.int().min(1).nullable().describe('line of the new file; null for one about all of the file'),
  text: z.string().min(1).max(10_000),
})
export type Comment = z.infer<typeof Comment>

/** The content of a receipt: who decided what about a change, and how far it was read. */
export const Review = z.object({
  reviewer: z.object({ id: z.string().min(1).describe('as in the allowed signers, usually an address of e-mail') }),
  decision: Decision,
  comments: z.array(Comment).max(1000).optional().describe('remarks of the reviewer'),
  repository: z.string().nullable().describe('name of the repository, such as `github.com/acme/shop`'),
  base: Side,
  coverage: Coverage,
  evidence: ReviewEvidence,
  level: Level.describe('level that the observer measured; a passkey beside the receipt raises it'),
  checks: z.array(z.string()).describe('attention checks that were passed; they raise no level'),
  presence: z.object({ method: z.literal('passkey'), credential_id: z.string() }).nullable(),
  times: z.object({
    started_at: z.iso.datetime(),
    decided_at: z.iso.datetime(),
    active_ms: z.number().min(0).describe('time that the change was in view and in focus, in ms'),
  }),
  policy: Sha256.nullable().describe('sha256 of the policy that was in force'),
  chain_head: z.string().nullable().describe('hash of the last gaze record'),
  observer: z.object({ name: z.string(), keyid: z.string() }).nullable(),
})
export type Review = z.infer<typeof Review>

const Subject = z.object({ name: z.string(), digest: z.record(z.string(), z.string()) })

/** An in-toto Statement v1 about a review. */
export const ReceiptStatement = z.object({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(Subject),
  predicateType: z.literal(RECEIPT_TYPE),
  predicate: Review,
})

/** The content of a countersignature: what a gateway observed of a review. */
export const ObservationStatement = z.object({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(z.object({ name: z.literal('receipt'), digest: z.object({ sha256: Sha256 }) })).length(1),
  predicateType: z.literal(OBSERVATION_TYPE),
  predicate: z.object({
    review_id: z.string(),
    level: Level,
    observed_at: z.iso.datetime(),
    task: z
      .object({ id: z.string(), reader: z.string().describe('id of the key that read') })
      .optional()
      .describe('for a review of a task’s result'),
  }),
})
export type Observation = z.infer<typeof ObservationStatement>['predicate']

/** Returns the payload of a receipt: the bytes that its reviewer signs, see `signedBytes`. */
export function receiptPayload({ head, digest }: Pick<Change, 'head' | 'digest'>, predicate: Review): Buffer {
  const subject = [
    ...(head.commit === null ? [] : [{ name: 'head', digest: { gitCommit: head.commit } }]),
    { name: 'tree', digest: { gitTree: head.tree } },
    { name: 'change', digest: { sha256: digest } },
  ]
  return asBytes({ _type: STATEMENT_TYPE, subject, predicateType: RECEIPT_TYPE, predicate })
}

/** Returns the payload of a countersignature over a receipt's payload. */
export function observationPayload(receipt: Buffer, predicate: Observation): Buffer {
  const subject = [{ name: 'receipt', digest: { sha256: createHash('sha256').update(receipt).digest('hex') } }]
  return asBytes({ _type: STATEMENT_TYPE, subject, predicateType: OBSERVATION_TYPE, predicate })
}

/** Puts a payload into an envelope, with a plain signature that standard verifiers read. */
export async function signed(payload: Buffer, { key, sign }: Signer): Promise<Envelope> {
  const sig = (await sign(signedBytes(payload))).toString('base64')
  return { ...unsigned(payload), signatures: [{ keyid: key.fingerprint, sig }] }
}

/** Puts a payload into an envelope without a signature: an SSH signature or a passkey's answer stands beside it. */
export const unsigned = (payload: Buffer): Envelope => ({
  payloadType: PAYLOAD_TYPE,
  payload: payload.toString('base64'),
  signatures: [],
})

const asBytes = (statement: object): Buffer => Buffer.from(JSON.stringify(statement))
