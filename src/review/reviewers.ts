import { reaches } from '../gaze/evidence-level.ts'
import type { Authenticated } from './authenticate-receipt.ts'
import type { Identities } from './identities.ts'
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

/** One person, with all receipts that count. */
export interface Reviewer {
  /** Names in the receipts. */
  names: Set<string>
  /** These names, the keys that signed, and the others that are the same person's by the allowed signers. */
  known: Set<string>
  receipts: Counted[]
}

/** Groups receipts by person: by what {@link Reviewer.known} of them have in common. */
export function reviewersOf(counted: readonly Counted[], identities: Identities): Reviewer[] {
  const people: Reviewer[] = []
  for (const one of counted) {
    const known = new Set(
      [one.reviewer.toLowerCase(), ...one.keys].flatMap((own) => [own, ...(identities.get(own) ?? [])]),
    )
    const isSame = (person: Reviewer) => [...known].some((own) => person.known.has(own))
    const [same, others] = [people.filter(isSame), people.filter((person) => !isSame(person))]
    const receipts = [...same.flatMap((person) => person.receipts), one]
    const names = new Set(receipts.map(({ reviewer }) => reviewer.toLowerCase()))
    for (const person of same) for (const own of person.known) known.add(own)
    people.splice(0, people.length, ...others, { names, known, receipts })
  }
  return people
}

/** Tells whether the last decision of a person, comments aside, asks for changes. */
export function asksForChanges({ receipts }: Reviewer): boolean {
  const decided = receipts.filter(({ decision }) => decision !== 'comment')
  const last = decided.sort((one, other) => other.decidedAt.getTime() - one.decidedAt.getTime())[0]
  return last?.decision === 'request_changes'
}

/** Tells whether a person is an author, under any of their names. */
export const isAuthor = ({ known }: Reviewer, authors: ReadonlySet<string>): boolean =>
  [...known].some((name) => authors.has(name))

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
