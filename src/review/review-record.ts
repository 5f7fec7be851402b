import * as z from 'zod'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { Change, Part } from './change-parts.ts'
import { CHECK_KINDS, Check, CheckKind, type MadeCheck } from './checks.ts'
import { Receipt } from './receipt.ts'
import { Comment, Decision, Level, PartCoverage, Sha256 } from './statement.ts'

/** Id of a review. */
export const ReviewId = z.string().regex(/^rev_[0-9a-f]{32}$/)

/** A change to be reviewed, as a client with the repository sends it. */
export const NewReview = Change.extend({
  repository: z.string().min(1).max(256).nullable().default(null).describe('name of the repository, for policies'),
  policy: Sha256.nullable().default(null).describe('SHA-256 of the policy in force'),
  task_id: z.string().nullable().default(null).describe('task whose result is reviewed; null for none'),
  checks: z
    .array(CheckKind)
    .max(CHECK_KINDS.length)
    .default([])
    .describe('attention checks to be asked at the decision; they raise no level'),
})
export type NewReview = z.infer<typeof NewReview>

/** A review, without the lines of its change. */
export const ReviewRecord = z.object({
  id: ReviewId,
  session_id: z.string().describe('gaze session of its evidence'),
  caller_id: z.string().describe('key that began it, and alone reads and decides'),
  base: Change.shape.base,
  head: Change.shape.head,
  digest: Change.shape.digest,
  repository: z.string().nullable(),
  task_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  decided_at: z.iso.datetime().nullable(),
  hunks: z.array(z.object({ digest: Sha256, kind: z.string(), path: z.string(), lines: z.int() })),
  checks: z.array(Check).describe('attention checks, answered with the decision'),
  receipt: Receipt.nullable().describe('once decided; without the signature of its reviewer'),
})
export type ReviewRecord = z.infer<typeof ReviewRecord>

/** Runs of rows of a hunk: the first and the last of each, from 0. */
const Rows = z.array(z.tuple([z.int(), z.int()]))

/** Reading of one hunk or item so far. */
export const PartReading = PartCoverage.extend({
  exposed: z.int().describe('changed lines that were in view for 250 ms, whatever else was in view'),
  first_ms: z.number().nullable().describe('active time before it came into view; null when it never did'),
  visits: z.int().describe('times that it came into view'),
  pointer_ms: z.number().describe('time that a pointer rested on its lines; earns nothing'),
  selections: z.int().describe('times that lines of it were selected; earn nothing'),
  comments: z.int().describe('comments on it while it was read; earn nothing'),
  glanced: Rows.describe('runs of changed rows that had some visible time, and not enough'),
  unread: Rows.describe('runs of changed rows that had none'),
})
export type PartReading = z.infer<typeof PartReading>

/** A review with the lines of its change, and how far they were read. */
export const ReviewWithParts = ReviewRecord.extend({
  parts: z.array(Part),
  reading: z.object({
    active_ms: z.number(),
    ms_per_line: z.number().nullable().describe('active time for each changed line; null for no lines'),
    first_scan_ms: z
      .number()
      .nullable()
      .describe(
        'active time after which 80 % of the changed lines had been in view for 250 ms; null while they have not',
      ),
    level: Level.describe('level that a decision would have now'),
    parts: z.array(PartReading),
    canary: PartReading.nullable().describe('reading of the canary, which is in no sum and no receipt; null for none'),
  }),
  usual_ms_per_line: z
    .number()
    .nullable()
    .describe('median of ms_per_line in the last 20 other reviews that its key decided; null below three'),
})
export type ReviewWithParts = z.infer<typeof ReviewWithParts>

/** The end of a review. */
export const DecideReview = z.object({
  reviewer: z.string().min(1).max(256).describe('name in the allowed signers, usually an address of e-mail'),
  decision: Decision,
  acknowledged: z.array(Sha256).max(50_000).default([]).describe('digests of the items that the reviewer acknowledged'),
  comments: z.array(Comment).max(1000).default([]),
  credential_id: z.string().optional().describe('passkey that will sign the receipt'),
  answers: z
    .array(z.string().max(1000))
    .max(CHECK_KINDS.length)
    .default([])
    .describe('to the attention checks, in their order; to a canary the digest of the hunk that was marked'),
})
export type DecideReview = z.infer<typeof DecideReview>

/** Reads the attention checks of a row, with their answers. */
export const checksOf = ({ change }: Pick<ReviewRow, 'change'>): MadeCheck[] =>
  (JSON.parse(change) as { checks?: MadeCheck[] }).checks ?? []

/** Reads the change of a row, which holds only JSON that `Change` accepted. */
export const changeOf = ({ change }: Pick<ReviewRow, 'change'>): Change => JSON.parse(change) as Change

/** Converts a row. */
export function recordOf(row: ReviewRow): ReviewRecord {
  const { base, head, digest, parts } = changeOf(row)
  const { id, session_id, caller_id, repository, task_id, created_at, decided_at } = row
  const hunks = parts.map(({ digest, kind, path, lines }) => ({ digest, kind, path, lines }))
  const checks = checksOf(row).map(({ answer, ...asked }) => asked)
  const receipt = row.receipt === null ? null : (JSON.parse(row.receipt) as Receipt)
  return {
    id,
    session_id,
    caller_id,
    base,
    head,
    digest,
    repository,
    task_id,
    created_at,
    decided_at,
    hunks,
    checks,
    receipt,
  }
}
