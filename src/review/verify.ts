import * as z from 'zod'
import type { Checkout } from '../repository/git-command.ts'
import { authenticate } from './authenticate-receipt.ts'
import { authorsIn } from './authors.ts'
import { readChange } from './change.ts'
import type { Change, Part } from './change-parts.ts'
import { demandOn, type Policy } from './policy.ts'
import type { OpenedReceipt } from './receipt.ts'
import {
  asksForChanges,
  type Counted,
  countedReceipt,
  isAuthor,
  type Reviewer,
  reviewersOf,
  timesRead,
} from './reviewers.ts'

/** A part of the range that lacks reviewers. */
const Unread = z.object({
  place: z.string().describe('`path:from-to` in the new file, or in the old one where lines were only removed'),
  reason: z.string(),
})
type Unread = z.infer<typeof Unread>

/** The judgement of what lands. */
export const Verdict = z.object({
  passed: z.boolean(),
  change: z.string().describe('SHA-256 of the canonical change'),
  parts: z.int().describe('hunks and items of the change'),
  items: z.int().describe('items among them'),
  unread: z.array(Unread),
  reviewers: z.array(z.string()).describe('those whose receipts count'),
  refused: z.array(z.object({ reviewer: z.string(), reason: z.string() })).describe('receipts that do not count'),
})
export type Verdict = z.infer<typeof Verdict>

/**
 * Judges a range of commits by receipts: every hunk of it, and every item, has to be in the receipts of as many people as
 * the policy demands. It does not matter how the commits came there: by a merge, a squash, a rebase or a merge queue.
 *
 * @throws GazewayError `not_found` for an unknown revision, or a clone that is too shallow
 */
export async function verifyRange(
  checkout: Checkout,
  { base, head }: { base: string; head: string },
  receipts: readonly OpenedReceipt[],
  policy: Policy,
  now: Date,
): Promise<Verdict> {
  const change = await readChange(checkout, base, head)
  const isAsked = needsOthers(change, policy)
  const authors = isAsked ? await authorsIn(checkout, change.base.commit, change.head.commit) : new Set<string>()
  return judgeChange(change, authors, receipts, policy, now)
}

/** Judges a change by receipts, see {@link verifyRange}. `authors` are addresses in lower case. */
export function judgeChange(
  change: Pick<Change, 'digest' | 'parts'>,
  authors: ReadonlySet<string>,
  receipts: readonly OpenedReceipt[],
  policy: Policy,
  now: Date,
): Verdict {
  const refused: Verdict['refused'] = []
  const counted: Counted[] = []
  for (const receipt of receipts) {
    const found = authenticate(receipt, policy, now)
    if (typeof found !== 'string') counted.push(countedReceipt(receipt, found))
    else refused.push({ reviewer: receipt.review.reviewer.id, reason: found })
  }
  const people = reviewersOf(counted, policy.identities)
  for (const person of people.filter(asksForChanges)) refused.push(namedAs(person, 'they asked for changes'))
  const willing = people.filter((person) => !asksForChanges(person))
  const others = willing.filter((person) => !isAuthor(person, authors))
  for (const person of needsOthers(change, policy) ? willing.filter((person) => !others.includes(person)) : [])
    refused.push(namedAs(person, 'they are an author of the range'))
  const unread = unreadParts(change, policy, willing, others)
  const reviewers = willing.flatMap(({ names }) => [...names])
  const { digest, parts } = change
  const items = parts.filter(({ kind }) => kind !== 'hunk').length
  return { passed: unread.length === 0, change: digest, parts: parts.length, items, unread, reviewers, refused }
}

/** Tells whether a path of a change has to be read by others than its authors. */
const needsOthers = ({ parts }: Pick<Change, 'parts'>, policy: Policy): boolean =>
  parts.some((part) =>
    pathsOf(part).some((path) => {
      const { reviewers, not_author } = demandOn(policy, path)
      return reviewers > 0 && not_author
    }),
  )

const namedAs = ({ names }: Reviewer, reason: string) => ({ reviewer: [...names].join(', '), reason })

function unreadParts(change: Pick<Change, 'parts'>, policy: Policy, willing: Reviewer[], others: Reviewer[]): Unread[] {
  const met = new Map<string, number>()
  const timesRead = countingOnce()
  return change.parts.flatMap((part) => {
    const nth = (met.get(part.digest) ?? 0) + 1
    met.set(part.digest, nth)
    const reasons = pathsOf(part).flatMap((path) => {
      const { reviewers, level, coverage, not_author } = demandOn(policy, path)
      const people = not_author ? others : willing
      const readers = people.filter((person) => timesRead(person, part.digest, part.lines, level, coverage) >= nth)
      return readers.length >= reviewers
        ? []
        : [shortage(part, readers.length, reviewers, { people, level, timesRead })]
    })
    return reasons.length === 0 ? [] : [{ place: placeOf(part), reason: reasons[0] as string }]
  })
}

/** A moved file has to satisfy the demands on both of its paths. */
const pathsOf = (part: Part): string[] =>
  part.kind !== 'hunk' && part.from !== undefined ? [part.path, part.from] : [part.path]

/** Counts as {@link timesRead} does, and each hunk once: a change may repeat one thousands of times. */
function countingOnce(): typeof timesRead {
  const counts = new Map<Reviewer, Map<string, number>>()
  return (person, ...of) => {
    const own = counts.get(person) ?? new Map<string, number>()
    counts.set(person, own)
    const key = of.join(' ')
    const count = own.get(key) ?? timesRead(person, ...of)
    own.set(key, count)
    return count
  }
}

function shortage(
  part: Part,
  readers: number,
  needed: number,
  of: { people: readonly Reviewer[]; level: string; timesRead: typeof timesRead },
): string {
  if (readers > 0) return `read by ${readers} of ${needed} reviewers`
  const isKnown = of.people.some((person) => of.timesRead(person, part.digest, 0, 'none', 0) > 0)
  return isKnown ? `not read enough, or below the level ${of.level}` : 'in no receipt that counts'
}

/** Names the lines of a part: `src/a.ts:10-20`, or its path and what it is. */
function placeOf(part: Part): string {
  if (part.kind !== 'hunk') return `${part.path} (${part.kind})`
  const added = part.rows.flatMap(({ kind, new: line }) => (kind === '+' && line !== null ? [line] : []))
  const removed = part.rows.flatMap(({ kind, old }) => (kind === '-' && old !== null ? [old] : []))
  const lines = added.length > 0 ? added : removed
  const [first, last] = [lines[0], lines.at(-1)]
  const range = first === last ? first : `${first}-${last}`
  return `${part.path}:${range}${added.length > 0 ? '' : ' (removed)'}`
}
