import { generateKeyPairSync } from 'node:crypto'
import type { Change } from '../../src/review/change-parts.ts'
import { type Policy, readPolicy } from '../../src/review/policy.ts'
import { type OpenedReceipt, RECEIPT_MEDIA_TYPE, type Receipt, readReceipts } from '../../src/review/receipt.ts'
import { observationPayload, type Review, receiptPayload, signed } from '../../src/review/statement.ts'
import { keySigner, type Signer } from '../../src/signing/signer.ts'
import { sshLine } from '../../src/signing/ssh-key.ts'

/** The time at which the reviews of tests are judged. */
export const NOW = new Date('2026-11-26T18:00:00.000Z')

/** A person or a gateway with a key of its own. */
export interface Person {
  name: string
  signer: Signer
}

export function createPerson(name: string, type: 'ed25519' | 'ec' = 'ed25519'): Person {
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  return { name, signer: keySigner(privateKey) }
}

/** Line of the allowed signers for a person. */
export const lineOf = ({ name, signer }: Person, options = 'namespaces="gazeway-review"', names = name): string =>
  `${names} ${options}${options === '' ? '' : ' '}${sshLine(signer.key)}`

/** A policy of these lines, with level `seen` unless it says more. */
export const policyOf = (lines: string[], more: object = {}, revoked = ''): Promise<Policy> =>
  readPolicy(
    JSON.stringify({ version: 1, allowed_signers: 'signers', revoked_keys: 'revoked', level: 'seen', ...more }),
    'review.json',
    async (name) => (name === 'signers' ? lines.join('\n') : revoked),
  )

/** A review in which everything was seen. */
export function reviewOf({ base, parts }: Change, reviewer: string, more: Partial<Review> = {}): Review {
  const hunks = parts.map(({ digest, path, lines }) => ({ digest, path, lines, seen: lines, seen_ms: lines * 300 }))
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines, 0)
  return {
    reviewer: { id: reviewer },
    decision: 'approve',
    repository: null,
    base,
    coverage: { lines, seen: lines, by_file: [], hunks },
    evidence: { coverage: 1, plausibility: null, novelty: null, liveness: null, provenance: null, reasons: [] },
    level: 'seen',
    checks: [],
    presence: null,
    times: { started_at: '2026-11-26T17:00:00.000Z', decided_at: '2026-11-26T17:30:00.000Z', active_ms: 600_000 },
    policy: null,
    chain_head: null,
    observer: null,
    ...more,
  }
}

/** A receipt of a review, signed by its reviewer and countersigned by an observer if there is one. */
export async function receiptOf(
  change: Change,
  person: Person,
  {
    review = {},
    observer,
    level = 'plausible',
  }: { review?: Partial<Review>; observer?: Person; level?: Review['level'] } = {},
): Promise<OpenedReceipt> {
  const payload = receiptPayload(change, reviewOf(change, person.name, review))
  const receipt: Receipt = { mediaType: RECEIPT_MEDIA_TYPE, envelope: await signed(payload, person.signer) }
  if (observer !== undefined) {
    const observation = { review_id: 'review', level, observed_at: '2026-11-26T17:30:00.000Z' }
    receipt.observer = await signed(observationPayload(payload, observation), observer.signer)
  }
  return reopened(receipt)
}

/** Reads a receipt as it travels. */
export const reopened = (receipt: Receipt): OpenedReceipt =>
  readReceipts(JSON.stringify(receipt), 'receipt')[0] as OpenedReceipt
