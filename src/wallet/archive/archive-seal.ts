import * as z from 'zod'
import { Envelope, PAYLOAD_TYPE, payloadOf, signedBytes } from '../../signing/envelope.ts'
import type { Signer } from '../../signing/signer.ts'
import { parseJson } from '../../text/json.ts'

/** Version of the format of archive files. */
export const ARCHIVE_FORMAT = 1

/** Type of the predicate about a month's archive. */
const PREDICATE = 'https://github.com/gazeway/gazeway/attestations/ledger-archive/v1'

const Digest = z.string().regex(/^[0-9a-f]{64}$/)
/** Sort values of a row: chain and position of a transfer, time and id of a receipt. */
const Place = z.tuple([z.string(), z.union([z.string(), z.int()])])

/** Part of an archive that is read by itself: a gzip member with at most 1,000 rows. */
export const Block = z.object({
  of: z.enum(['transfers', 'receipts']),
  at: z.int().describe('offset in the file'),
  bytes: z.int(),
  rows: z.int(),
  sha256: Digest.describe('of the compressed bytes'),
  first: Place,
  last: Place,
})
export type Block = z.infer<typeof Block>

/** Sums of one account over a month, and the part of its chain that is in it. */
export const ArchivedAccount = z.object({
  account: z.string(),
  micros: z.int(),
  deposited_micros: z.int(),
  transfers: z.int().describe('of its own chain'),
  first: z.int().describe('position; 0 where its chain has none'),
  last: z.int(),
})
export type ArchivedAccount = z.infer<typeof ArchivedAccount>

/** Facts about an archive that its seal signs. */
export const ArchiveFacts = z.object({
  format: z.literal(ARCHIVE_FORMAT),
  month: z.string(),
  starts_at: z.string(),
  ends_at: z.string(),
  sealed_at: z.string(),
  previous: z.object({ month: z.string(), sha256: Digest }).nullable().describe('the archive before'),
  ledger_before: Digest.describe('the `ledger_after` of the archive before; zeros for the first'),
  ledger_after: Digest.describe('SHA-256 over `ledger_before` and the hashes of all transfers, a line each'),
  transfers: z.int(),
  receipts: z.int(),
  accounts: z.array(ArchivedAccount),
  blocks: z.array(Block),
  seal_at: z.int().describe('offset in the file where the blocks end'),
})
export type ArchiveFacts = z.infer<typeof ArchiveFacts>

const Sealed = z.object({
  subject: z.tuple([z.object({ digest: z.object({ sha256: Digest }) })]),
  predicateType: z.literal(PREDICATE),
  predicate: ArchiveFacts,
})

/** A seal that was read. `content` is the SHA-256 of all lines before it. */
export interface Seal {
  facts: ArchiveFacts
  content: string
  envelope: Envelope
}

/** Signs the facts about an archive: an in-toto statement about its lines, by SHA-256. */
export async function signSeal(facts: ArchiveFacts, content: string, signer: Signer): Promise<Envelope> {
  const payload = Buffer.from(
    JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: `${facts.month}.jsonl`, digest: { sha256: content } }],
      predicateType: PREDICATE,
      predicate: facts,
    }),
  )
  const sig = (await signer.sign(signedBytes(payload))).toString('base64')
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [{ keyid: signer.key.fingerprint, sig }],
  }
}

/** Reads the line of a seal; null when it is none. */
export function readSeal(line: string): Seal | null {
  const envelope = z.object({ seal: Envelope }).safeParse(parseJson(line)).data?.seal
  const sealed = envelope && Sealed.safeParse(parseJson(payloadOf(envelope).toString())).data
  if (!envelope || !sealed) return null
  return { facts: sealed.predicate, content: sealed.subject[0].digest.sha256, envelope }
}
