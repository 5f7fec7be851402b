import { reaches } from '../gaze/level.ts'
import type { AllowedSigner } from '../signing/allowed-signers.ts'
import type { Authenticated } from './authenticate.ts'
import type { OpenedReceipt } from './receipt.ts'
import type { Level, PartCoverage, Review } from './statement.ts'

/** A receipt that counts, and who signed it. */
export interface Counted extends Authenticated {
  decision: Review['decision']
  /** Coverage of each hunk and item, by digest. */
  read: ReadonlyMap<string, readonly PartCoverage[]>
}

/** Indexes a receipt by digest: a change may have as many hunks as a receipt, and each is looked for. */
export function countedReceipt({ review }: OpenedReceipt, authenticated: Authenticated): Counted {
  const read = new Map<string, PartCoverage[]>()
  for (const part of review.coverage.hunks) {
    const same = read.get(part.digest)
    if (same === undefined) read.set(part.digest, [part])
    else same.push(part)
  }
  return { ...authenticated, decision: review.decision, read }
}

/** One person, with all receipts that count. Receipts with the same name or the same key are one person's. */
export interface Reviewer {
  names: Set<string>
  keys: Set<string>
  receipts: Counted[]
}

/** Groups receipts by person. A person whose last decision asks for changes has approved nothing. */
export function reviewersOf(counted: readonly Counted[]): Reviewer[] {
  const people: Reviewer[] = []
  for (const one of counted) {
    const [same, others] = [
      people.filter((person) => isSame(person, one)),
      people.filter((person) => !isSame(person, one)),
    ]
    const receipts = [...same.flatMap((person) => person.receipts), one]
    const names = new Set(receipts.map(({ reviewer }) => reviewer.toLowerCase()))
    people.splice(0, people.length, ...others, { names, keys: new Set(receipts.flatMap(({ keys }) => keys)), receipts })
  }
  return people
}

const isSame = ({ names, keys }: Reviewer, one: Authenticated): boolean =>
  names.has(one.reviewer.toLowerCase()) || one.keys.some((key) => keys.has(key))

/** Tells whether the last decision of a person, comments aside, asks for changes. */
export function asksForChanges({ receipts }: Reviewer): boolean {
  const decided = receipts.filter(({ decision }) => decision !== 'comment')
  const last = decided.sort((one, other) => other.decidedAt.getTime() - one.decidedAt.getTime())[0]
  return last?.decision === 'request_changes'
}

/** Tells whether a person is an author, by name or by another name that the allowed signers give to the same key. */
export function isAuthor(
  { names, keys }: Reviewer,
  authors: ReadonlySet<string>,
  signers: readonly AllowedSigner[],
): boolean {
  const lines = signers.filter(({ key }) => keys.has(key.blob.toString('base64')))
  const known = [...names, ...lines.flatMap(({ principals }) => principals.map((name) => name.toLowerCase()))]
  return known.some((name) => authors.has(name))
}

/**
 * Counts how often a person read a hunk or acknowledged an item: the most in one receipt, so that two receipts of one
 * hunk do not pass for two hunks.
 */
export function timesRead({ receipts }: Reviewer, digest: string, lines: number, level: Level, share: number): number {
  const isRead = ({ seen }: PartCoverage) => seen > 0 && Math.min(seen, lines) >= share * lines
  const counts = receipts
    .filter(({ decision, level: proven }) => decision === 'approve' && reaches(proven, level))
    .map(({ read }) => read.get(digest)?.filter(isRead).length ?? 0)
  return Math.max(0, ...counts)
}
